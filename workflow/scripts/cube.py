"""Gather the scores of a problem."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.evaluation.cubes import build_cube

    build_cube(parameters["description"], snakemake.output[0])
