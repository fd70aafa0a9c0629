"""Score the runs of a branch."""

import json

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.evaluation.scores import score
    from bocu.runs.compiling import share_with_jobs

    share_with_jobs()
    parameters = snakemake.params.score
    inputs = dict(snakemake.input.items())
    runs = inputs.pop("runs", [])
    partial = "runs" in parameters
    if partial:
        runs = list(json.loads(parameters["runs"]))
    elif isinstance(runs, str):
        runs = [runs]
    branch, metrics = json.loads(parameters["branch"]), json.loads(parameters["metrics"])
    score(runs, inputs, branch, metrics, snakemake.output[0], partial)
