"""Fit one candidate prior."""

import json

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.core.loading import load

    prior = json.loads(snakemake.params.prior["specification"])
    load(prior["fit"])(prior["statement"], dict(snakemake.input.items()), snakemake.output[0])
