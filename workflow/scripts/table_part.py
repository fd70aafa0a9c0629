"""One part of a table that a simulator fills."""

from bocu.sweep.jobs import job

with job(snakemake) as given:
    from bocu.problems.data.simulators.tables import write_part

    write_part(given["table"], int(snakemake.wildcards.number), given["parts"], snakemake.output[0])
