# Figures from cubes, and the report that shows them.


localrules:
    all,
    report,


rule figure:
    input:
        unpack(lambda wildcards: plan.figure_inputs(wildcards.figure, wildcards.folder)),
    output:
        png=report(
            plan.results + "/figures/{folder}/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{folder}",
            labels={"figure": "{figure}", "format": "PNG"},
        ),
        svg=report(
            plan.results + "/figures/{folder}/{figure}.svg",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{folder}",
            labels={"figure": "{figure}", "format": "SVG"},
        ),
        description=plan.results + "/figures/{folder}/{figure}.json",
    log:
        plan.results + "/logs/figures/{folder}/{figure}.log",
    params:
        figure=lambda wildcards: plan.figure_parameters(wildcards.figure),
    script:
        "../scripts/figure.py"


rule report:
    input:
        pictures=plan.figure_files("png") + plan.figure_files("svg"),
        descriptions=plan.figure_files("json"),
        cubes=plan.cubes,
        summary=plan.summary,
    output:
        page=report(plan.report, caption="../report/page.rst", category="Report"),
        tables=directory(plan.results + "/report/tables"),
    log:
        plan.results + "/logs/report.log",
    params:
        report=lambda wildcards: plan.report_parameters(),
    script:
        "../scripts/report.py"
