"""Score the runs of a branch."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.sweep.evaluation.scores import score_branch

    score_branch(parameters, dict(snakemake.input.items()), snakemake.output[0])
