"""bocu: from data sets to a report."""

from snakemake.utils import min_version

min_version("9.1")


# The quick start is read only where no other configuration is given: Snakemake would merge the two.
if not workflow.config_settings.configfiles:

    configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


# Used with `--software-deployment-method apptainer` only; the Containerfile says how it is made.
container: "bocu.sif"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/designs.smk"
include: "workflow/rules/priors.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/scores.smk"
include: "workflow/rules/cubes.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        lambda wildcards: plan.products.targets(),
