"""Judge the runs of a branch."""

import json

from bocu.jobs import job

with job(snakemake):
    from bocu.scores import score

    inputs = dict(snakemake.input.items())
    runs = inputs.pop("runs")
    judges = json.loads(snakemake.params.score["judges"])
    score([runs] if isinstance(runs, str) else runs, inputs, judges, snakemake.output[0])
