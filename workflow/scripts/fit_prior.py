"""Fit one candidate prior."""

import json

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.priors.fit import fit_prior

    fit_prior(json.loads(snakemake.params.prior["specification"]), dict(snakemake.input.items()), snakemake.output[0])
