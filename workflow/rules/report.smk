# Figures from cubes, and the report that shows them. `part` is empty, or "/partial" for what exists so far.

from bocu.experiment.resources import memory, minutes
from bocu.sweep.staleness import partial_report


localrules:
    all,
    partial,
    report,


rule partial:
    """The report of what exists: runs that are missing or failed are holes in it, and none is started."""
    input:
        lambda wildcards: partial_report(plan),


rule figure:
    input:
        unpack(
            lambda wildcards: plan.inputs.figure(
                wildcards.figure, wildcards.folder, wildcards.part
            )
        ),
    output:
        png=report(
            plan.results + "{part}/figures/{folder}/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{folder}",
            labels={"figure": "{figure}", "format": "PNG"},
        ),
        svg=report(
            plan.results + "{part}/figures/{folder}/{figure}.svg",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{folder}",
            labels={"figure": "{figure}", "format": "SVG"},
        ),
        description=plan.results + "{part}/figures/{folder}/{figure}.json",
    log:
        plan.results + "/logs{part}/figures/{folder}/{figure}.log",
    resources:
        mem_mb=lambda wildcards, attempt: memory(1000, attempt),
        runtime=lambda wildcards, attempt: minutes(300, attempt),
    params:
        figure=lambda wildcards: plan.parameters.figure(
            wildcards.figure, wildcards.folder
        ),
    script:
        "../scripts/figure.py"


rule report:
    input:
        pictures=lambda wildcards: plan.figure_files("png", wildcards.part)
        + plan.figure_files("svg", wildcards.part),
        descriptions=lambda wildcards: plan.figure_files("json", wildcards.part),
        cubes=lambda wildcards: plan.cubes(wildcards.part),
        summary=plan.results + "{part}/cubes/summary.nc",
    output:
        page=report(
            plan.results + "{part}/report/index.html",
            caption="../report/page.rst",
            category="Report",
        ),
        tables=directory(plan.results + "{part}/report/tables"),
    log:
        plan.results + "/logs{part}/report.log",
    params:
        report=lambda wildcards: plan.parameters.report(),
    script:
        "../scripts/report.py"
