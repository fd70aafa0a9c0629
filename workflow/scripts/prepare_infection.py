"""Infections as a Gaussian-process mean."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.data.infection import prepare_infection
    from bocu.data.raw import check

    check(snakemake.input.raw)
    prepare_infection(snakemake.input.raw, snakemake.output[0], snakemake.params.origin)
