"""Temperatures of the Intel lab from the carried matrices."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.data.intel_matrices import prepare_matrices
    from bocu.data.raw import check

    check(snakemake.input.raw)
    prepare_matrices(snakemake.input.raw, snakemake.output[0], snakemake.params.origin)
