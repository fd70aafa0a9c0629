import re

import own_package
import pytest
from own_package import edit, forget

from bocu.core.errors import BocuError
from bocu.sweep.experiment.fingerprints import definition_links, source_memo
from bocu.sweep.experiment.fingerprints.definition_links import imported_modules, look_up, read
from bocu.sweep.experiment.fingerprints.fingerprint import definitions, fingerprint, named_code

FILES = {
    "__init__.py": '"""Package."""\n__version__ = "1"\n',
    "runs.py": (
        "from bocu.tools import helper\n"
        "import math\n"
        "from bocu import constants\n"
        "LIMIT = 3\n"
        "UNUSED = 4\n"
        "def go(step=LIMIT):\n"
        "    from bocu.lazy import late\n"
        "    return late, helper(), math.pi, constants.USED, step\n"
        "def other():\n"
        "    return 5\n"
    ),
    "tools.py": (
        '"""Tools."""\n\n\ndef helper():\n    """Help."""\n    return inner(1)  # one\n\n\n'
        "def inner(x):\n    return x\n"
    ),
    "other_tools.py": "def helper():\n    return inner(1)\n\n\ndef inner(x):\n    return -x\n",
    "lazy.py": "late = 1\nlater = 2\n",
    "constants.py": "USED, ALSO = 1, 2\nALONE = 3\n",
    "alone.py": "x = 1\n",
    "typed.py": (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from bocu.alone import x\n\n\n"
        "def go(y: 'x') -> 'x':\n    return y\n"
    ),
    "family/__init__.py": (
        "from importlib import import_module\n"
        "_HOME = {'one': 'first', 'two': 'second'}\n"
        "def __getattr__(name):\n    return getattr(import_module(f'{__name__}.{_HOME[name]}'), name)\n"
    ),
    "family/first.py": (
        "from . import second\nfrom ..tools import helper\ndef one():\n    return second.two(), helper()\n"
    ),
    "family/second.py": "import numpy\ndef two():\n    return numpy.pi\ndef three():\n    return 3\n",
    "family/user.py": "from bocu.family import two\ndef go():\n    return two()\n",
    "classes.py": (
        "from pydantic import Field\n"
        "from bocu.decorators import noted, plain\n"
        "class Base:\n    factor = 2\n    def scale(self, x): return self.factor * x\n"
        "class About:\n    def __init__(self, **told): pass\n"
        "class Child(Base):\n"
        "    about = About(title='Child', cost=1)\n"
        "    order: int = Field(1, ge=0, description='the order', title='Order', examples=[1])\n"
        "    def go(self): return self.scale(self.order)\n"
        "class Brother(Base):\n    def go(self): return 1\n"
        "@plain\ndef decorated(): return 1\n"
        "@noted\ndef registered(): return 2\n"
    ),
    "decorators.py": (
        "REGISTERED = []\n"
        "def plain(function): return function\n"
        "def noted(function):\n    REGISTERED.append(function)\n    return function\n"
    ),
    "acting.py": "import os\nVALUE = 1\nos.environ['A'] = '1'\ndef go(): return VALUE\n",
    "actor.py": "from bocu import acting\ndef go(): return 1\n",
    "by_text.py": "A = 1\nB = 2\ndef go(name): return globals()[name]\n",
    "whole.py": "from bocu import constants\ndef go(name): return getattr(constants, name)\n",
    "star.py": "from bocu.constants import *\ndef go(): return USED\n",
    "tried.py": (
        "try:\n    from bocu.lazy import late as value\nexcept ImportError:\n    value = 0\ndef go(): return value\n"
    ),
    "compiled.py": (
        "from bocu.decorators import plain\nSIZE = 3\n@plain\ndef kernel(x): return x + SIZE\n"
        "@plain\ndef outer(x):\n    return kernel(x)\n"
    ),
    "mutual.py": (
        "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\n"
        "def go(): return even(4)\n"
    ),
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package of its own in place of bocu."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    own_package.put(tmp_path, monkeypatch)
    yield tmp_path
    forget()


def reached(*roots):
    return {f"{module}:{name}" for module, names in definitions(roots).items() for name in names}


def changed(package, root, file, old, new):
    before = fingerprint(root)
    edit(package / file, old, new)
    return fingerprint(root) != before


def test_names_are_followed_to_their_definitions_wherever_their_imports_stand(package):
    assert reached("bocu.runs:go") == {
        "bocu.runs:go",
        "bocu.runs:LIMIT",
        "bocu.tools:helper",
        "bocu.tools:inner",
        "bocu.lazy:late",
        "bocu.constants:USED, ALSO",
    }


def test_relative_imports_are_followed(package):
    expected = {"bocu.family.first:one", "bocu.family.second:two", "bocu.tools:helper", "bocu.tools:inner"}
    assert reached("bocu.family.first:one") == expected


def test_packages_that_load_lazily_lead_to_the_definition_alone(package):
    assert reached("bocu.family.user:go") == {
        "bocu.family.user:go",
        "bocu.family.second:two",
        "bocu.family:__getattr__",
    }
    assert not changed(package, "bocu.family.user:go", "family/__init__.py", "'one': 'first', ", "")
    assert changed(package, "bocu.family.user:go", "family/__init__.py", "'two': 'second'", "'two': 'elsewhere'")


def test_imports_for_type_checkers_are_not_followed(package):
    assert reached("bocu.typed:go") == {"bocu.typed:go"}


@pytest.mark.parametrize(
    ("root", "file", "old", "new"),
    [
        ("runs:go", "tools.py", "# one", "# another comment"),
        ("runs:go", "tools.py", '"""Help."""', '"""Say something else."""'),
        ("runs:go", "tools.py", '"""Tools."""', '"""Instruments."""'),
        ("runs:go", "tools.py", "return inner(1)", "\n    return (inner(\n        1))"),
        ("runs:go", "alone.py", "x = 1", "x = 2"),
        ("runs:go", "__init__.py", '"1"', '"2"'),
        ("runs:go", "runs.py", "UNUSED = 4", "UNUSED = 5"),
        ("runs:go", "runs.py", "return 5", "return 6"),
        ("runs:go", "lazy.py", "later = 2", "later = 3"),
        ("runs:go", "constants.py", "ALONE = 3", "ALONE = 4"),
        ("runs:go", "tools.py", "def inner", "class New:\n    pass\n\n\ndef inner"),
        ("runs:go", "runs.py", "def other", "def newer():\n    return 7\ndef other"),
        ("classes:Child", "classes.py", "'the order'", "'another text'"),
        ("classes:Child", "classes.py", "'Order'", "'A title'"),
        ("classes:Child", "classes.py", "examples=[1]", "examples=[2]"),
        ("classes:Child", "classes.py", "title='Child', cost=1", "title='Kid', cost=helper()"),
        ("classes:Child", "classes.py", "def go(self): return 1", "def go(self): return 2"),
        ("classes:decorated", "classes.py", "factor = 2", "factor = 3"),
        ("mutual:go", "alone.py", "x = 1", "x = 2"),
    ],
)
def test_what_changes_no_number_does_not_count(package, root, file, old, new):
    assert not changed(package, f"bocu.{root}", file, old, new)


@pytest.mark.parametrize(
    ("root", "file", "old", "new"),
    [
        ("runs:go", "tools.py", "inner(1)", "inner(2)"),
        ("runs:go", "tools.py", "return x", "return -x"),
        ("runs:go", "lazy.py", "late = 1", "late = 2"),
        ("runs:go", "runs.py", "late, helper()", "helper(), late"),
        ("runs:go", "runs.py", "LIMIT = 3", "LIMIT = 4"),  # a default value
        ("runs:go", "runs.py", "step=LIMIT", "step=3"),
        ("runs:go", "constants.py", "1, 2", "2, 2"),
        ("runs:go", "runs.py", "import math", "import cmath as math"),  # the same text, another library
        ("runs:go", "runs.py", "from bocu.tools", "from bocu.other_tools"),
        ("classes:Child", "classes.py", "factor = 2", "factor = 3"),  # of the base class
        ("classes:Child", "classes.py", "ge=0", "ge=1"),
        ("classes:Child", "classes.py", "Field(1", "Field(2"),
        ("classes:Child", "classes.py", "class Child(Base)", "class Child(Brother)"),
        ("classes:decorated", "decorators.py", "def plain(function): return function", "def plain(function): return 1"),
        ("classes:decorated", "classes.py", "@plain\n", ""),
        ("classes:decorated", "classes.py", "return 2", "return 3"),  # `noted` keeps it where others may find it
        ("actor:go", "acting.py", "'1'", "'2'"),  # a module that does something when it is imported
        ("actor:go", "acting.py", "os.environ", "os.environ_"),
        ("by_text:go", "by_text.py", "B = 2", "B = 3"),
        ("whole:go", "constants.py", "ALONE = 3", "ALONE = 4"),
        ("star:go", "constants.py", "ALONE = 3", "ALONE = 4"),
        ("tried:go", "lazy.py", "late = 1", "late = 2"),
        ("tried:go", "tried.py", "value = 0", "value = 1"),
        ("compiled:outer", "compiled.py", "SIZE = 3", "SIZE = 4"),
        ("compiled:outer", "compiled.py", "x + SIZE", "x - SIZE"),
        ("mutual:go", "mutual.py", "n != 0", "n > 0"),
    ],
)
def test_what_may_change_a_number_counts(package, root, file, old, new):
    assert changed(package, f"bocu.{root}", file, old, new)


def test_which_of_two_namesakes_is_used_counts_where_both_are_reached_before_and_after(package):
    (package / "both.py").write_text(
        "from bocu.tools import helper\n"
        "from bocu import tools, other_tools\n"
        "def both(): return tools.helper(), other_tools.helper()\n"
        "def go(): return both(), helper()\n"
    )
    forget()
    assert changed(package, "bocu.both:go", "both.py", "from bocu.tools import", "from bocu.other_tools import")


def test_moving_a_definition_or_a_file_changes_nothing(package):
    before = fingerprint("bocu.runs:go")
    edit(package / "tools.py", "def inner(x):\n    return x\n", "from bocu.moved import inner\n")
    (package / "moved.py").write_text("def inner(x):\n    return x\n")
    (package / "family/late.py").write_text((package / "lazy.py").read_text())
    edit(package / "runs.py", "from bocu.lazy", "from bocu.family.late")
    (package / "elsewhere.py").write_text((package / "runs.py").read_text())
    forget()
    assert fingerprint("bocu.elsewhere:go") == fingerprint("bocu.runs:go") == before


def test_a_script_is_hashed_whole_and_followed_but_for_bystanders(package, tmp_path):
    (package / "jobs.py").write_text("def job(): return 1\n")
    script = tmp_path / "script.py"
    script.write_text("from bocu.sweep.jobs import job\nwith job():\n    from bocu.tools import helper\n    helper()\n")
    assert not changed(package, str(script), "jobs.py", "return 1", "return 2")
    assert changed(package, str(script), "tools.py", "return x", "return -x")
    assert changed(tmp_path, str(script), "script.py", "helper()\n", "helper(1)\n")
    assert not changed(tmp_path, str(script), "script.py", "with job", "# a comment\nwith job")


def test_code_of_users_is_followed_within_their_package(package, tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "users_own.py").write_text(
        "from bocu.tools import helper\nfrom users_other import f\ndef go(): return helper()\n"
    )
    monkeypatch.syspath_prepend(folder)
    assert reached("users_own:go") == {"users_own:go", "bocu.tools:helper", "bocu.tools:inner"}
    assert changed(folder, "users_own:go", "users_own.py", "return helper()", "return 1")
    file = tmp_path / "file.py"
    file.write_text("def go(): return 1\ndef other(): return 2\n")
    assert changed(tmp_path, f"{file}:go", "file.py", "return 1", "return 3")
    assert not changed(tmp_path, f"{file}:go", "file.py", "return 2", "return 3")
    named = {
        "class": "bocu.runs:go",
        "parameters": {"phi": ["users_own:go", "numpy:sin", "9:30", "no_such:x"]},
    }
    assert named_code(named) == ["bocu.runs:go", "users_own:go"]


def test_modules_that_import_a_name_from_one_another_are_followed_to_an_end(package, tmp_path, monkeypatch):
    (tmp_path / "users_first.py").write_text("from users_second import f, g\ndef go(): return f() + g()\n")
    (tmp_path / "users_second.py").write_text("from users_first import f\ndef g(): return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "users_second:g" in reached("users_first:go")
    installed = tmp_path / "env/lib/site-packages"
    installed.mkdir(parents=True)
    (installed / "users_library.py").write_text("def h(): return 1\n")
    monkeypatch.syspath_prepend(installed)
    (tmp_path / "users_third.py").write_text("import users_library\ndef go(): return users_library.h()\n")
    assert reached("users_third:go") == {"users_third:go"}


@pytest.mark.parametrize(("root", "line"), [("bocu.none:x", "no such module"), ("bocu.runs:x", "defines no x")])
def test_a_root_that_is_not_there_is_refused(package, root, line):
    with pytest.raises(BocuError, match=line):
        fingerprint(root)


def test_the_memo_knows_files_by_their_content(package, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source_memo._memo.cache_clear()
    before = fingerprint("bocu.runs:go"), fingerprint("bocu.classes:Child")
    source_memo.save_memo()
    source_memo._memo.cache_clear()
    forget()
    monkeypatch.setattr(source_memo, "read_source", None)
    assert (fingerprint("bocu.runs:go"), fingerprint("bocu.classes:Child")) == before
    edit(package / "tools.py", "return x", "return -x")
    with pytest.raises(TypeError):
        fingerprint("bocu.runs:go")
    monkeypatch.undo()
    text = source_memo.memo_file().read_text() if source_memo.memo_file().is_file() else ""
    assert str(tmp_path) not in text


def test_a_broken_or_unwritable_memo_is_no_memo(package, tmp_path, monkeypatch):
    before = fingerprint("bocu.runs:go")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = source_memo.memo_file()
    file.parent.mkdir(parents=True)
    for content in ("", "nonsense", "0\n{}"):
        file.write_text(content)
        source_memo._memo.cache_clear()
        forget()
        assert fingerprint("bocu.runs:go") == before
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "runs.py"))  # a file, not a folder
    source_memo.save_memo()


def test_every_name_that_a_lazy_package_hands_on_is_found():
    import bocu.robust.ambiguity

    for name in bocu.robust.ambiguity.__all__:
        _, *targets = look_up("bocu.robust.ambiguity", [name])
        assert len(targets) == 1, name
        module, index = targets[0]
        assert read(module).statements[index].names == (name,)
        assert getattr(bocu.robust.ambiguity, name).__module__ == module


def test_only_a_few_places_load_code_by_a_name_that_is_worked_out(root):
    # What they load is a root of its own, or followed by tables; another place would need one of the two.
    found = set()
    for file in sorted((root / "src/bocu").rglob("*.py")):
        if re.search(
            r"\bimport_module\(|__import__\(|__subclasses__|\bglobals\(|(?<!\.)\beval\([^)]|\bexec\(", file.read_text()
        ):
            found.add(file.relative_to(root / "src/bocu").as_posix())
    # Compiled functions are followed where they are called; the rest is no code of runs.
    assert found <= {
        "robust/ambiguity/compiled.py",
        "problems/data/simulators/farm.py",
        "sweep/preloaded.py",
        "core/loading.py",
        "robust/ambiguity/__init__.py",
        "sweep/experiment/fingerprints/definitions.py",
    }


def test_no_import_leads_nowhere(root):
    for file in sorted((root / "src/bocu").rglob("*.py")):
        name = ".".join(file.relative_to(root / "src").with_suffix("").parts).removesuffix(".__init__")
        for module in imported_modules(name, read(name).imports):
            assert definition_links.source_file(module) is not None, (name, module)
