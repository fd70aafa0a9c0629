"""Gather the scores of a problem."""

import json

from bocu.jobs import job

with job(snakemake):
    from bocu.cubes import build_cube

    build_cube(json.loads(snakemake.params.cube["description"]), snakemake.output[0])
