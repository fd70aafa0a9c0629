"""Gather the scores of a problem, and what is drawn and told of them."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.sweep.evaluation.cubes import build_cube
    from bocu.sweep.evaluation.digests import build_digest

    build_cube(parameters["description"], snakemake.output.cube)
    build_digest(snakemake.output.cube, snakemake.output.digest)
