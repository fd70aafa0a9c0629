"""Compiling before the first job of a sweep what its worst cases run, so that hundreds of jobs do not wait for it.

A step before all jobs, not a job: Snakemake would run finished jobs again after one whose output is new to them, be it
`ancient` or not.
"""

import subprocess
import sys
from collections.abc import Iterator

from bocu.core.plain import Plain
from bocu.robust.ambiguity import compiled
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.registry import find


def compile_ahead(plan: Plan) -> None:
    """Compile for this processor what the plan will call, unless that is done; jobs on others compile once for theirs.

    What goes wrong is not fatal: jobs compile what they do not find.
    """
    if not any(find("set", name).load().compiled for name in set(_sets(_specifications(plan)))) or compiled.is_ready():
        return
    print("compiling worst cases for this type of processor: some ten seconds, once", file=sys.stderr, flush=True)
    # In a process of its own, which gives the compiler's memory back.
    subprocess.run([sys.executable, "-m", __name__], check=False)


def _specifications(plan: Plan) -> list[Plain]:
    metrics = [metric.specification for metric in plan.metrics]
    return metrics + [branch.specification for branch in plan.branches.values()]


def _sets(data: object) -> Iterator[str]:
    """The sets that plain data name."""
    if isinstance(data, dict):
        chosen = data.get("set")
        if isinstance(chosen, dict) and isinstance(chosen.get("name"), str):
            yield chosen["name"]
        data = list(data.values())
    if isinstance(data, list):
        for value in data:
            yield from _sets(value)


if __name__ == "__main__":
    compiled.folder()
