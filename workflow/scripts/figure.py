"""Draw one figure."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.pages.figures.base import draw_files

    draw_files(parameters, dict(snakemake.input.items()), dict(snakemake.output.items()))
