"""What is known by its behaviour: which edits change an identity, and which do not."""

import json
from pathlib import Path

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.numerics import KERNEL, refuse_other_kernel
from bocu.problems.data.catalogue import load_catalogue
from bocu.problems.data.infection import prepare_infection
from bocu.sweep.archive.identities import (
    algorithm_identity,
    algorithm_probe,
    plain_identity,
    problem_identity,
    problem_probe,
)
from bocu.sweep.experiment.plugins import outside
from bocu.sweep.experiment.registry import registered
from bocu.testing.games import stated

PROBES = Path(__file__).parent / "probes.json"
STORED = json.loads(PROBES.read_text(encoding="utf-8"))
BY_TORCH = "bocu.interop"  # the last bits are the processor's
OWN = '''
import numpy as np
from bocu.core.about import About
from bocu.core.parameters import Parameters
from bocu.learners.algorithms.base import Algorithm
from bocu.problems.finite import FiniteParameters, FiniteProblem

class Nothing(Parameters):
    """Nothing to set."""

class Means(Algorithm):
    """The decision of the highest mean so far, and a bonus."""
    about = About(title="Means", summary="means")
    protocols = ("general",)
    Parameters = Nothing

    def __init__(self, description, objective, parameters, generator):
        super().__init__(description, objective, parameters, generator)
        self.told = []

    def ask(self, round):
        return int(np.argmax(self._rated()))

    def _rated(self):
        rated = np.zeros(self.description.decisions.size)
        for decision in range(len(rated)):
            own = [value for place, value in self.told if place == decision]
            rated[decision] = (sum(own) / len(own) if own else 0.0) + 0.5 / (1 + len(own))
        return rated

    def tell(self, decision, context, value):
        self.told.append((decision, float(value)))

    def recommend(self):
        return 0

class Slope(FiniteProblem):
    """A slope."""
    about = About(title="Slope", summary="slope")
    Parameters = FiniteParameters
    units = "1"
    decision_names, decision_units = ("x",), ("1",)
    context_names, context_units = ("c",), ("1",)

    def payoff_table(self, streams):
        return 1.0 * self.decisions[:, :1] * self.contexts[:, 0]
'''
FASTER = """        places = np.array([place for place, _ in self.told], dtype=int)
        values = np.array([value for _, value in self.told])
        counts = np.bincount(places, minlength=len(rated))
        sums = np.bincount(places, values, minlength=len(rated))
        rated = np.divide(sums, counts, out=np.zeros(len(rated)), where=counts > 0) + 0.5 / (1 + counts)
"""
LOOP = OWN[OWN.index("        for decision in range") : OWN.index("        return rated")]


def known_by(folder, text=OWN, file="own.py"):
    """Return the identities of an outsider's algorithm and problem."""
    (folder / file).write_text(text, encoding="utf-8")
    method = outside("algorithm", f"{file}:Means", folder)
    problem = outside("problem", f"{file}:Slope", folder)
    parameters = problem.load().Parameters(decision_points=[6], context_points=[4]).model_dump(mode="json")
    return (
        algorithm_identity({"class": method.identity, "parameters": {}}),
        problem_identity({"class": problem.identity, "parameters": parameters}, {}),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import numpy as np", "import numpy as np  # a comment"),
        ("_rated", "_renamed"),
        (LOOP, FASTER),
        ("Nothing", "Unset"),
    ],
)
def test_what_computes_the_same_is_the_same(tmp_path, before, after):
    text = OWN.replace(before, after)
    assert text != OWN
    assert list(map(str, known_by(tmp_path, text, "elsewhere.py"))) == list(map(str, known_by(tmp_path)))


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("0.5 / (1 + len(own))", "0.05 / (1 + len(own))", [True, False]),
        ("1.0 * self.decisions", "1.01 * self.decisions", [False, True]),
        ("np.argmax", "np.argmin", [True, False]),
    ],
)
def test_what_computes_something_else_is_something_else(tmp_path, before, after, changed):
    ours, theirs = known_by(tmp_path), known_by(tmp_path, OWN.replace(before, after))
    assert [str(one) != str(other) for one, other in zip(ours, theirs, strict=True)] == changed
    assert [one.stated["probe"] != other.stated["probe"] for one, other in zip(ours, theirs, strict=True)] == changed


def test_a_revision_makes_another_of_what_probes_do_not_tell_apart(tmp_path):
    ours, _ = known_by(tmp_path)
    theirs, _ = known_by(tmp_path, OWN.replace('summary="means"', 'summary="means", revision=2'))
    assert ours.stated["probe"] == theirs.stated["probe"]
    assert str(ours) != str(theirs)


def test_defaults_that_are_written_out_and_labels_change_nothing():
    plain = stated("problem", "kirschner", {})
    written = stated("problem", "kirschner", {"protocol": plain["parameters"]["protocol"]})
    assert str(problem_identity(plain, {})) == str(problem_identity(written, {}))
    noisier = stated("problem", "kirschner", {"noise": 1.01 * plain["parameters"]["noise"]})
    assert problem_identity(noisier, {}).stated["probe"] != problem_identity(plain, {}).stated["probe"]


@pytest.mark.parametrize(
    ("field", "given", "same"),
    [
        ("0.5, exclude_if=later(0.5)", {}, True),
        ("0.5, exclude_if=later(0.5)", {"bonus": 0.5}, True),
        ("0.5, exclude_if=later(0.5)", {"bonus": 0.4}, False),
        ("0.5", {}, False),  # a default that was there from the beginning is stated
    ],
)
def test_an_option_that_came_later_leaves_what_does_without_it_what_it_was(tmp_path, field, given, same):
    def known(text, **given):
        (tmp_path / "own.py").write_text(text, encoding="utf-8")
        method = outside("algorithm", "own.py:Means", tmp_path)
        parameters = method.load().Parameters(**given).model_dump(mode="json")
        return algorithm_identity({"class": method.identity, "parameters": parameters})

    text = OWN.replace('"""Nothing to set."""', f"bonus: float = Field({field})")
    text = text.replace("import Parameters", "import Parameters, later\nfrom pydantic import Field")
    before, after = known(OWN), known(text.replace("0.5 / (1 + len", "self.parameters.bonus / (1 + len"), **given)
    assert (str(before) == str(after)) == same
    assert (before.stated["probe"] == after.stated["probe"]) == (given != {"bonus": 0.4})


def test_options_that_came_later_are_stated_where_they_are_used_alone():
    forgetting = {"window": 9, "discount": 0.9, "model": {"fit_start": "as-published"}}
    neutral = {"window": None, "discount": 1.0, "model": {"fit_start": "carried"}}
    plain, used = (stated("algorithm", "drbo-kde", given)["parameters"] for given in (neutral, forgetting))
    assert plain == stated("algorithm", "drbo-kde", {})["parameters"]
    assert set(used) - set(plain) == {"window", "discount"}
    assert set(used["model"]) - set(plain["model"]) == {"fit_start"}


def test_a_metric_is_the_same_wherever_its_class_stands():
    one, other = ({"class": f"{module}:Median", "parameters": {}} for module in ("here", "there.and.back"))
    assert str(plain_identity(one)) == str(plain_identity(other))


def test_data_are_known_by_what_they_hold(tmp_path):
    problem = stated("problem", "gp-sample", {})
    (tmp_path / "one.csv").write_text("1\n")
    (tmp_path / "other.csv").write_text("1\n")
    one, other = (problem_identity(problem, {"data": str(tmp_path / f"{name}.csv")}) for name in ("one", "other"))
    assert str(one) == str(other) != str(problem_identity(problem, {}))
    with pytest.raises(BocuError, match=r"gone.csv: no such file, which problem/gp-sample is built from"):
        problem_identity(problem, {"data": str(tmp_path / "gone.csv")})


def test_which_copy_of_the_data_was_read_changes_nothing(tmp_path, root):
    catalogue = load_catalogue(root / "data/sources.yaml")
    values = np.random.default_rng(0).standard_normal(50)
    found = {}
    for source, scale in (("mirror", 1.0), ("simulate", 1.0), ("shipped", 1.1)):
        folder = tmp_path / source
        folder.mkdir()
        raw = folder / "infection_X_y.npz"
        np.savez(raw, X=np.random.default_rng(1).random((50, 5)), y=scale * values)
        prepare_infection([raw], folder / "runs.nc", catalogue.origin("infection", "runs", source))
        grid = {"decision_points": [3, 3], "context_points": [2, 2, 2]}
        problem = stated("problem", "infection", {"source": source, **grid})
        found[source] = problem_identity(problem, {"data": str(folder / "runs.nc")})
    assert str(found["mirror"]) == str(found["simulate"]) != str(found["shipped"])
    assert "source" not in found["mirror"].stated["parameters"]


def probe_of(kind: str, name: str) -> str:
    """Return the probe of a registered class with its defaults; the reason where it has none."""
    refuse_other_kernel(KERNEL)
    try:
        specification = stated(kind, name, {})
        return problem_probe(specification, {}) if kind == "problem" else algorithm_probe(specification)
    except (BocuError, KeyError, AttributeError):  # parameters of its own, or files, are wanted
        return "none with its defaults alone"


CLASSES = [
    (entry.kind, entry.name)
    for kind in ("problem", "algorithm")
    for entry in registered(kind)
    if not entry.target.startswith(BY_TORCH)
]


def test_every_registered_class_stands_in_the_table():
    assert sorted(STORED) == sorted(f"{kind}/{name}" for kind, name in CLASSES)


@pytest.mark.ci
@pytest.mark.parametrize(("kind", "name"), CLASSES)
def test_a_probe_changes_with_its_revision_alone(kind, name):
    revision, probe = STORED[f"{kind}/{name}"].split(" ", 1)
    entry = next(each for each in registered(kind) if each.name == name)
    now = str(entry.load().about.revision), probe_of(kind, name)
    if now != (revision, probe):
        changed = "the probe changed, and the revision did not" if now[0] == revision else "the revision was raised"
        same = now[0] != revision and now[1] == probe
        pytest.fail(
            f"{kind}/{name}: {changed}{', and the probe is the same' if same else ''}: {revision}, {probe}; now "
            f"{now[0]}, {now[1]}. Raise `revision` of its `about` if what it computes has another meaning, and then "
            "write the table: python tests/sweep/test_identities.py"
        )


if __name__ == "__main__":
    found = {(entry.kind, entry.name): entry for kind in ("problem", "algorithm") for entry in registered(kind)}
    table = {"/".join(key): f"{found[key].load().about.revision} {probe_of(*key)}" for key in CLASSES}
    PROBES.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
