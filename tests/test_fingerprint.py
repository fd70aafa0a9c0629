import re

import pytest

from bocu import fingerprint as module
from bocu.fingerprint import fingerprint, imports, reachable


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package of its own in place of bocu."""
    files = {
        "__init__.py": '"""Package."""\n__version__ = "1"\n',
        "runs.py": "from bocu.tools import helper\ndef go():\n  from bocu.lazy import late\n  return late, helper\n",
        "tools.py": '"""Tools."""\n\n\ndef helper():\n    """Help."""\n    return 1  # one\n',
        "lazy.py": "late = 1\n",
        "alone.py": "x = 1\n",
        "typed.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from bocu.alone import x\n",
        "family/__init__.py": "",
        "family/one.py": "from . import two\nfrom ..tools import helper\n",
        "family/two.py": "import numpy\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(module, "_ROOT", tmp_path)
    forget()
    yield tmp_path
    forget()


def forget():
    for cached in (module._fingerprint, module._read):
        cached.cache_clear()


def changed(package, file, old, new):
    before = fingerprint("bocu.runs")
    path = package / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    forget()
    return fingerprint("bocu.runs") != before


def test_imports_are_followed_wherever_they_stand(package):
    assert reachable(["bocu.runs"]) == {"bocu.runs", "bocu.tools", "bocu.lazy"}


def test_relative_imports_are_followed(package):
    assert reachable(["bocu.family.one"]) == {"bocu.family.one", "bocu.family.two", "bocu.tools"}


def test_imports_for_type_checkers_are_not_followed(package):
    assert imports("bocu.typed") == frozenset()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("tools.py", "# one", "# another comment"),
        ("tools.py", '"""Help."""', '"""Say something else."""'),
        ("tools.py", '"""Tools."""', '"""Instruments."""'),
        ("tools.py", "return 1", "\n    return (1)"),
        ("alone.py", "x = 1", "x = 2"),
        ("__init__.py", '"1"', '"2"'),
    ],
)
def test_comments_docstrings_layout_and_unreached_files_do_not_count(package, file, old, new):
    assert not changed(package, file, old, new)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [("tools.py", "return 1", "return 2"), ("lazy.py", "= 1", "= 2"), ("runs.py", "late, helper", "helper, late")],
)
def test_reached_code_counts(package, file, old, new):
    assert changed(package, file, old, new)


def test_another_algorithm_leaves_a_branch_alone():
    branch = ["bocu.runs", "bocu.problems.hills", "bocu.algorithms.simple"]
    assert not {"bocu.algorithms.time_varying", "bocu.problems.sensors", "bocu.registry", "bocu.plan"} & reachable(
        branch
    )


def test_figures_judges_progress_and_the_command_line_are_out_of_reach_of_runs():
    found = reachable(["bocu.runs", "bocu.problems.sensors", "bocu.algorithms.time_varying"])
    assert not [
        name for name in found if re.search(r"figures|report|judges|scores|cubes|progress|jobs|cli|commands", name)
    ]


def test_no_module_of_the_package_imports_names_that_a_package_hands_on_lazily(root):
    # The fingerprint could not follow them.
    for file in sorted((root / "src/bocu").rglob("*.py")):
        name = ".".join(file.relative_to(root / "src").with_suffix("").parts).removesuffix(".__init__")
        for target in imports(name):
            found = module.source_file(target)
            lazy = found is not None and found.name == "__init__.py" and "__getattr__" in found.read_text()
            assert not lazy, f"{name} imports from the package {target}; import from the module that defines it"
