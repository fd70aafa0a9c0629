# What all stages share: the plan, made from the configuration, what wildcards stand for, and what surrounds the jobs.
# `part` is empty, or that of what exists so far: a slash and "partial".

import sys

try:
    from bocu.sweep import calls, snakefile
    from bocu.sweep.experiment.resources import stage_memory, stage_minutes
except ModuleNotFoundError as error:
    sys.exit(
        f"error: {error}; install the package in this environment first: pip install -e ."
    )

plan = snakefile.from_snakemake(workflow, config)


wildcard_constraints:
    part="(/partial)?",
    label="[a-z0-9-]+",
    problem="[a-z0-9-]+",
    objective="[a-z0-9-]+",
    algorithm="[a-z0-9-]+",
    entry="[a-z0-9-]+",
    figure="[a-z0-9-]+",
    folder="[a-z0-9-]+",
    block=r"[a-z0-9-]+/[a-z0-9-]+/[a-z0-9-]+/seeds-\d+-\d+",


onstart:
    snakefile.begin(plan, forecaster, workflow, log)


onsuccess:
    calls.end()


onerror:
    calls.end()
