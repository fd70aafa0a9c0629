"""Judge what is claimed of the experiment."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.sweep.evaluation.claims.records import write_verdicts

    write_verdicts(parameters["claims"], parameters["experiment"], list(snakemake.input), snakemake.output[0])
