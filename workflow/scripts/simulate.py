"""One simulated raw file."""

import importlib

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.problems.data.prepare import record_raw

    simulated = importlib.import_module(f"bocu.problems.data.simulated.{snakemake.wildcards.dataset}")
    simulated.simulate(snakemake.output[0])
    record_raw(snakemake.output[0])
