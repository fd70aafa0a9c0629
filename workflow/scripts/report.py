"""Build the report."""

import json

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.report.build import build

    experiment = json.loads(snakemake.params.report["experiment"])
    build(
        experiment,
        list(snakemake.input.cubes),
        snakemake.input.summary,
        list(snakemake.input.descriptions),
        snakemake.output.page,
        experiment["reference"],
        list(snakemake.input.audit),
    )
