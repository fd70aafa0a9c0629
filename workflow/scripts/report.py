"""Build the report."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.pages.report.build import build

    experiment, made = parameters["experiment"], snakemake.input
    build(
        experiment,
        made.digests,
        made.summary,
        made.descriptions,
        snakemake.output.page,
        experiment["reference"],
        made.audit,
        made.claims,
    )
