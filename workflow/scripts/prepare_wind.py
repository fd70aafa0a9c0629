"""Hourly wind power as a fraction of capacity."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.data.raw import check
    from bocu.data.wind import prepare_wind

    check(snakemake.input.raw)
    prepare_wind(snakemake.input.raw, snakemake.output[0], snakemake.params.origin)
