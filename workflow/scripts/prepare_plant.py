"""Leaf area as a Gaussian-process mean."""

from bocu.jobs import job

with job(snakemake):
    from bocu.data.plant import prepare_plant

    prepare_plant(snakemake.input, snakemake.output[0], snakemake.params.origin)
