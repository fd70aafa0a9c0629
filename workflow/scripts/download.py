"""One raw file from where it is published."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.problems.data.fetch import download

    download(snakemake.wildcards.dataset, snakemake.wildcards.file, snakemake.params.known, snakemake.output[0])
