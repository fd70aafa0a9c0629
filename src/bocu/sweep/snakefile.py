"""What the workflow asks of the package besides its jobs: the plan, and what comes before and after all jobs."""

import functools
import gc
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.numerics import pin_kernel
from bocu.core.plain import Plain
from bocu.sweep import calls, narrator
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.record import refuse_to_shrink, write_record
from bocu.sweep.experiment.registry import find
from bocu.sweep.forecast import Forecaster, keep

SOURCES = "../../data/sources.yaml"  # from the folder of the rules
SCRIPTS = "../scripts"
RULES_WITH_SCRIPT = (
    *("download", "mirror", "simulate", "prepare", "table_part", "table", "fit_prior"),
    *("optima", "run", "score", "cube", "summary", "figure", "claims", "report"),
)
_FULL_COLLECTIONS = 200  # generations of garbage between two full collections; Python's own number is 10
_COMPILE = "from bocu.robust.ambiguity import compiled; compiled.folder()"


def from_snakemake(workflow: Any, config: Plain) -> Plan:
    """Plan the experiment that a Snakefile is configured for.

    A fault of the configuration ends Snakemake with one line: it would show a traceback of what is raised.

    Args:
        workflow: Snakemake's, while it reads a file of rules of this project, from a clone or from a forge.
        config: the merged configuration.
    """
    pin_kernel()  # for the jobs, which this process starts
    # Planning keeps nearly all that it allocates: a full collection finds nothing, and takes longer with every job.
    gc.set_threshold(*gc.get_threshold()[:2], _FULL_COLLECTIONS)
    _read_once(workflow.sourcecache)
    try:
        plan = make_plan(
            config,
            files=workflow.configfiles,
            overrides=workflow.config_settings.config,
            sources_file=_local(workflow, SOURCES),
            scripts=_scripts(workflow),
        )
        refuse_to_shrink(plan)
    except BocuError as error:
        sys.exit(f"error: {error}")
    if workflow.is_main_process:
        for call in calls.unlock_after_kills():
            print(f"note: removed the lock of {call}, which was killed", file=sys.stderr, flush=True)
        # Of what hinders it Snakemake itself would say less, and only when it has planned all jobs.
        for note in filter(None, (*plan.notes(), calls.hindrance(plan))):
            print(f"note: {note}", file=sys.stderr, flush=True)
    return plan


def begin(plan: Plan, forecaster: Forecaster, workflow: Any, logs: str | Sequence[str]) -> None:
    """Note that this call begins, record what is about to be made, and compile what jobs would compile one by one."""
    # First, so that a kill from here on leaves no lock that nobody is known to have written.
    calls.begin(plan.experiment.name, logs, getattr(workflow.persistence, "_lockfile", {}).values())
    keep(plan)
    write_record(plan, workflow.configfiles, workflow.config_settings.config, _given(workflow))
    narrator.expect(forecaster.jobs())
    _compile_ahead(plan)


def _compile_ahead(plan: Plan) -> None:
    """Compile for this processor what the plan will call, unless that is done; jobs on others compile once for theirs.

    A step before all jobs, not a job: Snakemake would run finished jobs again after one whose output is new to them, be
    it `ancient` or not. What goes wrong is not fatal: jobs compile what they do not find.
    """
    from bocu.robust.ambiguity import compiled

    specifications = [metric.specification for metric in plan.metrics]
    specifications += [branch.specification for branch in plan.branches.values()]
    if not any(find("set", name).load().compiled for name in set(_sets(specifications))) or compiled.is_ready():
        return
    print("compiling worst cases for this type of processor: some ten seconds, once", file=sys.stderr, flush=True)
    # In a process of its own, which gives the compiler's memory back.
    subprocess.run([sys.executable, "-P", "-c", _COMPILE], check=False)


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


def _given(workflow: Any) -> str | None:
    """Return the Snakefile where the command line had to name it: Snakemake would find none or another by itself."""
    from snakemake.api import resolve_snakefile

    # Where the workflow is read from a forge, its address may hold a token, and reports show what is recorded.
    main = str(next(workflow.included).get_path_or_uri(secret_free=True))
    found = resolve_snakefile(None, allow_missing=True)
    return None if found is not None and main == str(Path(found).absolute()) else main


def _read_once(sources: Any) -> None:
    """Let Snakemake read each script once while it plans, and not for every job: a fifth of planning 10,000 of them.

    Args:
        sources: Snakemake's cache of source files, which keeps what it first read of a file as long as it lives.
    """
    opened = sources.open

    @functools.cache
    def text(file: object) -> str:
        with opened(file) as stream:
            return str(stream.read())

    sources.open = lambda file, mode="r": io.StringIO(text(file)) if mode == "r" else opened(file, mode)
    sources.get_path = functools.cache(sources.get_path)
    sources.exists = functools.cache(sources.exists)


def _scripts(workflow: object) -> Path:
    """Return the folder of the workflow's scripts, fetched one by one where the workflow is read from a forge."""
    files = [_local(workflow, f"{SCRIPTS}/{rule}.py") for rule in RULES_WITH_SCRIPT]
    return files[0].parent


def _local(workflow: Any, path: str) -> Path:
    """Return a file that is named relative to the file of rules that is read; where that is not local, a copy."""
    source = workflow.current_basedir.join(path)
    beside = Path(os.path.normpath(source.get_path_or_uri(secret_free=True)))
    return beside if beside.is_file() else Path(workflow.sourcecache.get_path(source))
