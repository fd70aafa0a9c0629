"""Search for the best decisions of a problem under the metrics of an entry."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.sweep.evaluation.optima import store_optima

    store_optima(parameters, dict(snakemake.input.items()), snakemake.output[0])
