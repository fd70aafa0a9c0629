"""Prepare one data set."""

from bocu.sweep.jobs import job

with job(snakemake) as given:
    from bocu.problems.data.prepare import prepare

    prepare(given["function"], snakemake.input.raw, snakemake.output[0], given["origin"], given["minutes"])
