"""Build the report."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.pages.report.build import Part, build_page

    experiment, made = parameters["experiment"], snakemake.input
    part = Part(experiment, made.digests, made.summary, made.descriptions, made.audit, made.claims)
    build_page([part], snakemake.output.page, experiment["reference"])
