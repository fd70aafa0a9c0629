"""Build the report."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.report.build import build

    made = snakemake.input
    build(parameters["experiment"], made.cubes, made.summary, made.descriptions, snakemake.output.page)
