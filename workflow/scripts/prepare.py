"""Prepare one data set."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.data.prepare import prepare

    parameters = snakemake.params.data
    raw, output = snakemake.input.raw, snakemake.output[0]
    prepare(parameters["function"], raw, output, parameters["origin"], parameters["minutes"])
