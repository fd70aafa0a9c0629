# Data sets: raw files by one of four sources (`shipped` ones lie there), then NetCDF with units. Paths begin with data/<source>/<dataset>/, so
# real and simulated data never share one. Only what a target asks for is made. Files of a mirror are inputs twice, of
# the copy and of what is prepared from it: Snakemake passes over a copy that is missing where the prepared file stands,
# and so would pass over a corrected file that was refused. Known hashes are parameters of both for the same reason.


# On a cluster, computing nodes may see neither the network nor the mirror.
localrules:
    download,
    mirror,
    prepared_data,


rule prepared_data:
    """Every data set that the configured source can bring, prepared."""
    input:
        [
            plan.catalogue.prepared_path(dataset, record, source)
            for dataset in plan.catalogue.datasets
            for source in [plan.source_of(dataset)]
            for record in plan.catalogue.available_records(
                dataset, source, plan.experiment.data.mirror
            )
        ],


rule download:
    output:
        "data/download/{dataset}/raw/{file}",
    log:
        "data/download/{dataset}/log/{file}.log",
    wildcard_constraints:
        dataset=plan.catalogue.patterns("download")["dataset"],
        file=plan.catalogue.patterns("download")["file"],
    params:
        known=lambda wildcards: plan.catalogue.known(wildcards.dataset, wildcards.file),
        fingerprint=lambda wildcards: plan.parameters.fingerprint("download"),
    script:
        "../scripts/download.py"


rule mirror:
    input:
        lambda wildcards: plan.inputs.mirrored(wildcards.dataset, [wildcards.file]),
    output:
        "data/mirror/{dataset}/raw/{file}",
    log:
        "data/mirror/{dataset}/log/{file}.log",
    wildcard_constraints:
        dataset=plan.catalogue.patterns("mirror")["dataset"],
        file=plan.catalogue.patterns("mirror")["file"],
    params:
        mirror=plan.experiment.data.mirror,
        known=lambda wildcards: plan.catalogue.known(wildcards.dataset, wildcards.file),
        fingerprint=lambda wildcards: plan.parameters.fingerprint("mirror"),
    script:
        "../scripts/mirror.py"


rule simulate:
    output:
        "data/simulate/{dataset}/raw/{file}",
    log:
        "data/simulate/{dataset}/log/{file}.log",
    benchmark:
        "data/simulate/{dataset}/benchmark/{file}.tsv"
    wildcard_constraints:
        dataset=plan.catalogue.patterns("simulate")["dataset"],
        file=plan.catalogue.patterns("simulate")["file"],
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("simulate", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("simulate", attempt),
    params:
        fingerprint=lambda wildcards: plan.parameters.fingerprint(
            "simulate", f"bocu.problems.data.simulated.{wildcards.dataset}:simulate"
        ),
    script:
        "../scripts/simulate.py"


rule prepare:
    input:
        unpack(
            lambda wildcards: plan.inputs.prepared(
                wildcards.source, wildcards.dataset, wildcards.prepared
            )
        ),
    output:
        "data/{source}/{dataset}/{prepared}.nc",
    log:
        "data/{source}/{dataset}/log/{prepared}.log",
    benchmark:
        "data/{source}/{dataset}/benchmark/{prepared}.tsv"
    wildcard_constraints:
        # Three wildcards, of which not every combination exists: looked up where the first begins.
        source=rf"(?=(?:{plan.catalogue.prepared_pattern()})\.nc$)[a-z]+",
        dataset="[a-z0-9-]+",
        prepared="[a-z0-9-]+",
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("prepare", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("prepare", attempt),
    params:
        data=lambda wildcards: plan.parameters.prepared(
            wildcards.source, wildcards.dataset, wildcards.prepared
        ),
    script:
        "../scripts/prepare.py"
