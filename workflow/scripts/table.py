"""A table that a simulator filled, from its parts."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.problems.data.simulators.tables import gather

    gather(snakemake.input, snakemake.output[0])
