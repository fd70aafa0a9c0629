# Tables that simulators fill, which came with the project (data/shipped): computed anew where they are asked for by name,
# in parts. The extra `problems` installs the simulators.


localrules:
    simulated_tables,


rule simulated_tables:
    """Every table that a simulator fills, computed anew."""
    input:
        list(plan.catalogue.tables()),


rule table_part:
    output:
        "data/compute/{dataset}/parts/{record}-{number}.nc",
    log:
        "data/compute/{dataset}/log/{record}-{number}.log",
    benchmark:
        "data/compute/{dataset}/benchmark/{record}-{number}.tsv"
    wildcard_constraints:
        dataset="[a-z0-9-]+",
        record="[a-z0-9-]+",
        number=r"\d+",
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("table_part", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("table_part", attempt),
    params:
        computed=lambda wildcards: plan.parameters.table(
            wildcards.dataset, wildcards.record
        ),
    script:
        "../scripts/table_part.py"


rule table:
    input:
        lambda wildcards: plan.catalogue.table_parts(
            wildcards.dataset, wildcards.record
        ),
    output:
        "data/compute/{dataset}/{record}.nc",
    log:
        "data/compute/{dataset}/log/{record}.log",
    benchmark:
        "data/compute/{dataset}/benchmark/{record}.tsv"
    wildcard_constraints:
        dataset="[a-z0-9-]+",
        record="[a-z0-9-]+",
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("table", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("table", attempt),
    params:
        fingerprint=lambda wildcards: plan.parameters.fingerprint("table"),
    script:
        "../scripts/table.py"
