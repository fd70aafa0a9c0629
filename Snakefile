"""bocu: from data sets to a report. Stages: data, priors, runs, scores, cubes, report."""

import gc
import sys

from snakemake.utils import min_version

min_version("9.1")

# Planning keeps nearly all that it allocates: a full collection finds nothing, and takes longer with every job.
gc.set_threshold(*gc.get_threshold()[:2], 200)

try:
    from bocu.sweep import calls
    from bocu.core.errors import BocuError
    from bocu.experiment.planning import make_plan
    from bocu.experiment.record import refuse_to_shrink, write_record
except ModuleNotFoundError as error:
    sys.exit(
        f"error: {error}; install the package in this environment first: pip install -e ."
    )

# The quick start is read only where no other configuration is given: Snakemake would merge the two.
if not workflow.config_settings.configfiles:

    configfile: "config/config.yaml"


configfiles = workflow.config_settings.configfiles or ["config/config.yaml"]
try:
    plan = make_plan(
        config,
        files=configfiles,
        overrides=workflow.config_settings.config,
        sources_file=workflow.source_path("data/sources.yaml"),
        scripts=f"{workflow.basedir}/workflow/scripts",
    )
    refuse_to_shrink(plan)
except BocuError as error:
    sys.exit(f"error: {error}")

config["checkpoint_seconds"] = plan.experiment.checkpoint_seconds


wildcard_constraints:
    part="(/partial)?",
    label="[a-z0-9-]+",
    problem="[a-z0-9-]+",
    objective="[a-z0-9-]+",
    algorithm="[a-z0-9-]+",
    figure="[a-z0-9-]+",
    folder="[a-z0-9-]+",
    block=r"[a-z0-9-]+/[a-z0-9-]+/[a-z0-9-]+/seeds-\d+-\d+",


rule all:
    default_target: True
    input:
        lambda wildcards: plan.products(),


include: "workflow/rules/data.smk"
include: "workflow/rules/designs.smk"
include: "workflow/rules/priors.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/scores.smk"
include: "workflow/rules/cubes.smk"
include: "workflow/rules/report.smk"


# Snakemake itself would say less, and only when it has planned all jobs.
if workflow.is_main_process and (hindrance := calls.hindrance(plan)):
    print(f"note: {hindrance}", file=sys.stderr, flush=True)


onstart:
    from bocu.runs.compiling import compile_ahead

    write_record(plan, configfiles, workflow.config_settings.config)
    compile_ahead(plan)
    calls.begin(plan.experiment.name, log)


onsuccess:
    calls.end()


onerror:
    calls.end()
