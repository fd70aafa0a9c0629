"""Temperatures of the Intel lab from its raw log."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.data.intel_log import prepare_log
    from bocu.data.raw import check

    check(snakemake.input.raw)
    prepare_log(snakemake.input.raw, snakemake.output[0], snakemake.params.origin, int(snakemake.wildcards.minutes))
