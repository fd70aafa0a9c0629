# Data sets: raw files by one of three sources, then NetCDF with units. Paths begin with data/<source>/<dataset>/, so
# real and simulated data never share one. Only what a target asks for is made. Files of a mirror are inputs twice, of
# the copy and of what is prepared from it: Snakemake passes over a copy that is missing where the prepared file stands,
# and so would pass over a corrected file that was refused. Known hashes are parameters of both for the same reason.

from bocu.experiment.resources import memory, minutes


# On a cluster, computing nodes may see neither the network nor the mirror.
localrules:
    download,
    mirror,
    prepared_data,


rule prepared_data:
    """Every data set that the configured source can bring, prepared."""
    input:
        [
            plan.catalogue.prepared_path(dataset, record, plan.experiment.data.source)
            for dataset in plan.catalogue.datasets
            for record in plan.catalogue.available_records(
                dataset, plan.experiment.data.source, plan.experiment.data.mirror
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
    wildcard_constraints:
        dataset=plan.catalogue.patterns("simulate")["dataset"],
        file=plan.catalogue.patterns("simulate")["file"],
    resources:
        mem_mb=lambda wildcards, attempt: memory(1500, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        fingerprint=lambda wildcards: plan.parameters.fingerprint(
            "simulate", f"bocu.data.simulated.{wildcards.dataset}:simulate"
        ),
    script:
        "../scripts/simulate.py"


rule prepare_wind:
    input:
        unpack(
            lambda wildcards: plan.inputs.raw(
                "wind", wildcards.record, wildcards.source
            )
        ),
    output:
        "data/{source}/wind/{record}.nc",
    log:
        "data/{source}/wind/log/{record}.log",
    wildcard_constraints:
        source="|".join(plan.catalogue.sources("wind")),
        record="|".join(plan.catalogue.dataset("wind").records),
    resources:
        mem_mb=lambda wildcards, attempt: memory(1500, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        origin=lambda wildcards: plan.catalogue.origin(
            "wind", wildcards.record, wildcards.source
        ),
        known=lambda wildcards: plan.catalogue.hashes(
            "wind", wildcards.record, wildcards.source
        ),
        fingerprint=lambda wildcards: plan.parameters.fingerprint("prepare_wind"),
    script:
        "../scripts/prepare_wind.py"


rule prepare_intel_log:
    input:
        unpack(lambda wildcards: plan.inputs.raw("intel", "log", wildcards.source)),
    output:
        "data/{source}/intel/log-{minutes}min.nc",
    log:
        "data/{source}/intel/log/log-{minutes}min.log",
    wildcard_constraints:
        source="|".join(plan.catalogue.record("intel", "log").sources),
        minutes="|".join(
            str(minutes) for minutes in plan.catalogue.record("intel", "log").intervals
        ),
    resources:
        mem_mb=lambda wildcards, attempt: memory(1500, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        origin=lambda wildcards: plan.catalogue.origin("intel", "log", wildcards.source),
        known=lambda wildcards: plan.catalogue.hashes("intel", "log", wildcards.source),
        fingerprint=lambda wildcards: plan.parameters.fingerprint("prepare_intel_log"),
    script:
        "../scripts/prepare_intel_log.py"


rule prepare_intel_matrices:
    input:
        unpack(lambda wildcards: plan.inputs.raw("intel", "matrices", wildcards.source)),
    output:
        "data/{source}/intel/matrices-30min.nc",
    log:
        "data/{source}/intel/log/matrices-30min.log",
    wildcard_constraints:
        source="|".join(plan.catalogue.record("intel", "matrices").sources),
    resources:
        mem_mb=lambda wildcards, attempt: memory(1500, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        origin=lambda wildcards: plan.catalogue.origin(
            "intel", "matrices", wildcards.source
        ),
        known=lambda wildcards: plan.catalogue.hashes(
            "intel", "matrices", wildcards.source
        ),
        fingerprint=lambda wildcards: plan.parameters.fingerprint(
            "prepare_intel_matrices"
        ),
    script:
        "../scripts/prepare_intel_matrices.py"


rule prepare_portfolio:
    input:
        unpack(
            lambda wildcards: plan.inputs.raw("portfolio", "samples", wildcards.source)
        ),
    output:
        "data/{source}/portfolio/samples.nc",
    log:
        "data/{source}/portfolio/log/samples.log",
    wildcard_constraints:
        source="|".join(plan.catalogue.record("portfolio", "samples").sources),
    resources:
        mem_mb=lambda wildcards, attempt: memory(1500, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        origin=lambda wildcards: plan.catalogue.origin(
            "portfolio", "samples", wildcards.source
        ),
        known=lambda wildcards: plan.catalogue.hashes(
            "portfolio", "samples", wildcards.source
        ),
        fingerprint=lambda wildcards: plan.parameters.fingerprint("prepare_portfolio"),
    script:
        "../scripts/prepare_portfolio.py"


rule prepare_plant:
    input:
        unpack(lambda wildcards: plan.inputs.raw("plant", "svgp", wildcards.source)),
    output:
        "data/{source}/plant/svgp.nc",
    log:
        "data/{source}/plant/log/svgp.log",
    wildcard_constraints:
        source="|".join(plan.catalogue.record("plant", "svgp").sources),
    resources:
        mem_mb=lambda wildcards, attempt: memory(1500, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        origin=lambda wildcards: plan.catalogue.origin(
            "plant", "svgp", wildcards.source
        ),
        known=lambda wildcards: plan.catalogue.hashes("plant", "svgp", wildcards.source),
        fingerprint=lambda wildcards: plan.parameters.fingerprint("prepare_plant"),
    script:
        "../scripts/prepare_plant.py"


rule prepare_infection:
    input:
        unpack(lambda wildcards: plan.inputs.raw("infection", "runs", wildcards.source)),
    output:
        "data/{source}/infection/runs.nc",
    log:
        "data/{source}/infection/log/runs.log",
    wildcard_constraints:
        source="|".join(plan.catalogue.record("infection", "runs").sources),
    resources:
        mem_mb=lambda wildcards, attempt: memory(1500, attempt),
        runtime=lambda wildcards, attempt: minutes(600, attempt),
    params:
        origin=lambda wildcards: plan.catalogue.origin(
            "infection", "runs", wildcards.source
        ),
        known=lambda wildcards: plan.catalogue.hashes(
            "infection", "runs", wildcards.source
        ),
        fingerprint=lambda wildcards: plan.parameters.fingerprint("prepare_infection"),
    script:
        "../scripts/prepare_infection.py"
