"""Gather the scores of a problem."""

import json

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.evaluation.cubes import build_cube

    build_cube(json.loads(snakemake.params.cube["description"]), snakemake.output[0])
