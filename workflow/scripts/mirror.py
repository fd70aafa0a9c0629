"""One raw file from the local mirror."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.problems.data.fetch import copy_from_mirror

    dataset, file = snakemake.wildcards.dataset, snakemake.wildcards.file
    copy_from_mirror(snakemake.params.mirror, dataset, file, snakemake.params.known, snakemake.output[0])
