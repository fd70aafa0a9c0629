"""Small experiments that tests share."""

import json
from pathlib import Path
from typing import Any

from bocu.interop.cvxpy.audit import audit
from bocu.sweep.evaluation.audits import Audit
from bocu.sweep.evaluation.cubes import build_cube, build_summary
from bocu.sweep.evaluation.digests import build_digest
from bocu.sweep.evaluation.metrics import ObjectiveMetric
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.branches import OBJECTIVE_METRIC, Branch
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.execution import Block, execute

ALGORITHMS = ["random", "regret-balancing", "fully-bayesian", "mle", "pe-gp-ucb", "oracle"]


# Two days of the simulated log: one of a prior, one to play.
SENSORS = {"name": "sensors", "parameters": {"log": {"target": "2004-03-03", "priors_from": "2004-03-01"}}}


def tiny(**changes: Any) -> dict[str, Any]:
    """Hills on a coarse grid: seconds for the whole pipeline."""
    experiment: dict[str, Any] = {
        "name": "tiny",
        "seeds": {"first": 0, "count": 4, "per_job": 2},
        "iterations": 12,
        "problems": [{"name": "hills", "parameters": {"grid": 60}}],
        "algorithms": ["random", "pe-gp-ucb"],
        "figures": ["regret"],
    }
    return {**experiment, **changes}


def planned(folder: Path, *problems: Any, **changes: Any) -> Plan:
    """Plan problems from a file in a folder, which may name classes beside it."""
    config = {"name": "own", "seeds": 1, "iterations": 10, "problems": list(problems), "algorithms": ["random"]}
    config |= {"metrics": ["so"], "figures": ["regret"], **changes}
    (folder / "own.yaml").write_text(json.dumps(config))
    return make_plan(config, [folder / "own.yaml"])


def scored_by(objective: str, **parameters: Any) -> dict[str, Any]:
    """The specification of a metric that is an objective of this name of class."""
    stated = {"class": f"bocu.robust.objectives.functions:{objective}", "parameters": parameters}
    return {"class": OBJECTIVE_METRIC, "parameters": {"objective": stated}}


def scoring(objective: str, **parameters: Any) -> ObjectiveMetric:
    """That metric."""
    stated = scored_by(objective, **parameters)["parameters"]
    return ObjectiveMetric(ObjectiveMetric.Parameters.model_validate(stated))


def metric(plan: Plan, branch: Branch, output: str | None = None, partial: bool = False) -> None:
    """Score a branch whose runs stand."""
    metrics = json.loads(plan.parameters.score(branch)["metrics"])
    score(
        plan.products.runs(branch), {}, branch.specification, metrics, output or plan.paths.score_file(branch), partial
    )


def run_all(plan: Plan) -> None:
    """Run an experiment that needs no data, up to its summary, in this process and folder."""
    for branch in plan.branches.values():
        for first, last in plan.blocks_of(branch):
            parameters = plan.parameters.run(branch, first, last)
            block = Block(json.loads(parameters["specification"]), {}, parameters["fingerprint"])
            execute(block, plan.paths.run_file(branch, first, last), plan.paths.checkpoint(branch, first, last))
        metric(plan, branch)
    for problem in plan.problems:
        build_cube(json.loads(plan.parameters.cube(problem)["description"]), plan.paths.cube(problem))
        build_digest(plan.paths.cube(problem), plan.paths.digest(problem))
    build_summary(plan.products.digests(), plan.paths.summary())


def audited(plan: Plan, cases: int = 60, moments: int = 4) -> Audit:
    """Solve some worst cases of an experiment's runs again, and find them as they were."""
    found = audit(plan, cases, moments)
    print(plan.experiment.name, found.told, found.groups, found.left_out)
    assert found.passed, found.beyond
    return found


def block(algorithm="pe-gp-ucb", seeds=(0, 2), iterations=40, fingerprint="code", **parameters) -> Block:
    """Return a block of runs on a small hills problem."""
    hills = {"name": "hills", "parameters": {"grid": 60, **parameters}}
    plan = make_plan(tiny(iterations=iterations, problems=[hills], algorithms=[algorithm]))
    branch = plan.branch("hills", "any", algorithm)
    return Block({**branch.specification, "seeds": list(seeds)}, {}, fingerprint)
