"""Fit one candidate prior."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.core.loading import load

    prior = parameters["specification"]
    load(prior["fit"])(prior["statement"], dict(snakemake.input.items()), snakemake.output[0])
