"""The table of what goes with what: it says what planning does, and stands in the docs as it is."""

import pytest

from bocu.commands.listing import combinations_tables
from bocu.core.errors import BocuError
from bocu.core.rounds import EVERY
from bocu.sweep.experiment.combinations import KINDS, combinations
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import registered

NEEDED = {
    "constant": {"decision": 0},
    "botorch-acquisition": {"acquisition": "qUpperConfidenceBound", "options": {"beta": 4.0}},
}
GRID = {"decision_points": [3, 3], "context_points": [2, 3]}
PROBLEMS = {
    "arms that change with time": [{"name": "hills"}],
    "box of arms that change with time": [{"name": "hills-continuous"}],
    "grids of decisions and contexts": [
        {"name": "gp-sample", "label": protocol, "parameters": {**GRID, "protocol": protocol}}
        for protocol in ("general", "data-driven", "simulator")
    ],
    "grids, candidate priors": [{"name": "gp-sample", "parameters": GRID}],
    "grids that change with time": [
        {"name": "drifting-gp-sample", "parameters": {"decision_points": [3], "context_points": [2]}}
    ],
    "boxes of decisions and contexts": [{"name": "newsvendor"}],
    "box of decisions, grid of contexts": [{"name": "ackley-grid"}],
    "grids, scalarised outputs": [{"name": "ackley-grid", "parameters": {"decisions": 25}}],
}
SETS = {"tv": {}, "mmd": {}, "chi2mod": {}, "cvar": {"alpha": 0.3}}
"""Sets that need no function of the user's, and answer differently."""


@pytest.fixture(scope="module")
def answers():
    return list(combinations())


def stated():
    """Every objective over every set that it can have, with a difference where it takes a slope: all can then."""
    found = [{"name": "so"}, {"name": "ro"}, {"name": "var"}]
    for name in ("dro", "wcs", "mr", "gen", "rs"):
        for distance, keys in SETS.items():
            if name in ("wcs", "mr") and distance == "chi2mod":
                continue
            parameters = {"set": {"name": distance, "radius": 0.1, **keys}}
            parameters |= {"tau": 0.1} if name == "rs" else {}
            parameters |= {"slope": {"difference": 0.01}} if name in ("wcs", "mr", "gen") else {}
            found.append({"name": name, "label": f"{name}-{distance}", "parameters": parameters})
    return found


def planned(kind, algorithm):
    """Return protocol, objective and set of every branch, or nothing where planning refuses the algorithm."""
    experiment = {
        "name": "asked",
        "seeds": 1,
        "iterations": 1,
        "problems": PROBLEMS[kind],
        "objectives": stated(),
        "algorithms": [{"name": algorithm, "label": "asked", "parameters": NEEDED.get(algorithm, {})}],
        "figures": [],
    }
    if algorithm != "random":  # which no problem is without
        experiment["algorithms"].append("random")
    if kind == "grids, candidate priors":
        scales = {"short": 0.1, "long": 0.5}
        experiment["priors"] = [
            {"name": "stated", "label": label, "parameters": {"lengthscale": scale}} for label, scale in scales.items()
        ]
    try:
        plan = make_plan(experiment)
    except BocuError as error:
        if "runs on no problem of this experiment" in str(error):
            return set()
        raise
    found = set()
    for problem, label, _ in (key for key in plan.branches if key[2] == "asked"):
        protocol = plan.problem_parameters(problem).protocol_among(plan.problems[problem].kind.protocols)
        objective, _, distance = label.partition("-")
        found.add((protocol, None, None) if label == "any" else (protocol, objective, distance or None))
    return found


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_the_table_says_what_planning_does(answers, kind):
    played = {"simulator", "general", "data-driven"} if kind == "grids of decisions and contexts" else {"general"}
    for entry in registered("algorithm"):
        found = planned(kind, entry.name)
        said = {
            (answer.protocol, answer.objective, answer.set)
            for answer in answers
            if (answer.algorithm, answer.kind) == (entry.name, kind) and answer.runs
        }
        if any(objective is None for _, objective, _ in said):  # a set of the algorithm's own, or none
            said = {(protocol, None, None) for protocol, *_ in said}
        said = {one for one in said if one[2] in (None, *SETS)}
        if kind.startswith("grids") and "scalarised" not in kind:
            said = {one for one in said if one[0] in played}
        assert found == said, entry.name


def test_every_problem_is_of_a_kind(answers):
    assert {protocol for kind in KINDS for protocol in kind.protocols} == set(EVERY)
    for entry in registered("problem"):
        kind = entry.load()
        assert set(kind.protocols) <= set(EVERY)
        try:
            outline = kind.outline(kind.Parameters())
        except BocuError:  # what is known of it depends on where its data come from
            continue
        if outline.decisions is not None:
            domains = {type(each.outline.decisions) for each in KINDS if {*each.protocols} & {*kind.protocols}}
            assert type(outline.decisions) in domains, entry.name


def test_what_does_not_run_has_one_line_of_reason(answers):
    refused = [answer for answer in answers if not answer.runs]
    assert refused
    assert all(answer.reason and "\n" not in answer.reason for answer in refused)
    asked = {answer.algorithm for answer in answers}
    assert asked == {entry.name for entry in registered("algorithm")}
    finite = {a.reason for a in answers if (a.algorithm, a.kind) == ("gp-ucb", "grids, scalarised outputs")}
    assert finite == {"it is defined for continuous"}
    assert {a.reason for a in answers if (a.algorithm, a.objective) == ("drmobo", "so")} == {
        "mobo is its counterpart for so; take it"
    }


def test_the_committed_page_is_the_generated_one(root, answers):
    assert (root / "docs/combinations.md").read_text() == combinations_tables(answers), "run `make schema`"
