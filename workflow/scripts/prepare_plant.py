"""Leaf area as a Gaussian-process mean."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.data.plant import prepare_plant
    from bocu.data.raw import check

    check(snakemake.input.raw)
    prepare_plant(snakemake.input.raw, snakemake.output[0], snakemake.params.origin)
