"""Temperatures of the Intel lab from its raw log."""

from bocu.jobs import job

with job(snakemake):
    from bocu.data.intel_log import prepare_log

    prepare_log(snakemake.input, snakemake.output[0], snakemake.params.origin, int(snakemake.wildcards.minutes))
