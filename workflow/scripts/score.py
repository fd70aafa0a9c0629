"""Judge the runs of a branch."""

import json

from bocu.jobs import job

with job(snakemake):
    from bocu.compiling import share_with_jobs
    from bocu.scores import score

    share_with_jobs()
    parameters = snakemake.params.score
    inputs = dict(snakemake.input.items())
    runs = inputs.pop("runs", [])
    partial = "runs" in parameters
    if partial:
        runs = list(json.loads(parameters["runs"]))
    elif isinstance(runs, str):
        runs = [runs]
    branch, judges = json.loads(parameters["branch"]), json.loads(parameters["judges"])
    score(runs, inputs, branch, judges, snakemake.output[0], partial)
