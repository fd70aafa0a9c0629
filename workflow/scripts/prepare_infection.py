"""Infections as a Gaussian-process mean."""

from bocu.jobs import job

with job(snakemake):
    from bocu.data.infection import prepare_infection

    prepare_infection(snakemake.input, snakemake.output[0], snakemake.params.origin)
