"""One simulated raw file."""

import importlib

from bocu.jobs import job

with job(snakemake):
    simulated = importlib.import_module(f"bocu.data.simulated.{snakemake.wildcards.dataset}")
    simulated.simulate(snakemake.wildcards.file, snakemake.output[0])
