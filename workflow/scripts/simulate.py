"""One simulated raw file."""

import importlib

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.data.provenance import sha256
    from bocu.data.raw import remember

    simulated = importlib.import_module(f"bocu.data.simulated.{snakemake.wildcards.dataset}")
    simulated.simulate(snakemake.wildcards.file, snakemake.output[0])
    remember(snakemake.output[0], sha256(snakemake.output[0]))
