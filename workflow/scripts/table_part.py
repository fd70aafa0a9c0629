"""One part of a table that a simulator fills."""

from bocu.sweep.jobs import job

with job(snakemake) as given:
    from bocu.data.simulators.tables import write_part

    computed = given["computed"]
    write_part(computed["table"], int(snakemake.wildcards.number), computed["parts"], snakemake.output[0])
