"""Gather the regret of all problems."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.sweep.evaluation.cubes import build_summary

    build_summary(list(snakemake.input), snakemake.output[0])
