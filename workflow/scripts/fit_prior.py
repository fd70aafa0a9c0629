"""Fit one candidate prior."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.priors.fit import fit_prior

    fit_prior(parameters["specification"], dict(snakemake.input.items()), snakemake.output[0])
