"""Portfolio samples and the Gaussian process fitted to them."""

from bocu.jobs import job

with job(snakemake):
    from bocu.data.portfolio import prepare_portfolio

    prepare_portfolio(snakemake.input, snakemake.output[0], snakemake.params.origin)
