"""Portfolio samples and the Gaussian process fitted to them."""

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.data.portfolio import prepare_portfolio
    from bocu.data.raw import check

    check(snakemake.input.raw)
    prepare_portfolio(snakemake.input.raw, snakemake.output[0], snakemake.params.origin)
