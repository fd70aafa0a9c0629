# The report, of the whole experiment and of what exists so far.

from bocu.sweep.staleness import partial_report


localrules:
    all,
    partial,
    report,


rule partial:
    """The report of what exists: runs that are missing or failed are holes in it, and none is started."""
    input:
        lambda wildcards: partial_report(plan),


rule report:
    input:
        pictures=lambda wildcards: plan.products.figures("png", wildcards.part)
        + plan.products.figures("svg", wildcards.part)
        + plan.products.figures("pdf", wildcards.part)
        + plan.products.figures("csv", wildcards.part),
        descriptions=lambda wildcards: plan.products.figures("json", wildcards.part),
        digests=lambda wildcards: plan.products.digests(wildcards.part),
        claims=lambda wildcards: plan.products.claims(wildcards.part),
        compared=lambda wildcards: plan.products.compared(wildcards.part),
        audit=lambda wildcards: plan.products.audits(wildcards.part),
        summary=f"{plan.results}{{part}}/cubes/summary.nc",
    output:
        page=report(
            f"{plan.results}{{part}}/report/index.html",
            caption="../report/page.rst",
            category="Report",
        ),
        tables=report(
            directory(f"{plan.results}{{part}}/report/tables"),
            patterns=["{table}.csv"],
            caption="../report/tables.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        f"{plan.results}/logs{{part}}/report.log",
    benchmark:
        f"{plan.results}/benchmarks{{part}}/report.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("report", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("report", attempt),
    params:
        report=lambda wildcards: plan.parameters.report(),
    script:
        "../scripts/report.py"
