"""Hourly wind power as a fraction of capacity."""

from bocu.jobs import job

with job(snakemake):
    from bocu.data.wind import prepare_wind

    prepare_wind(snakemake.input, snakemake.output[0], snakemake.params.origin)
