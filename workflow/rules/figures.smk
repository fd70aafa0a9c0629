# Figures, drawn from digests, cubes and runs.

from bocu.sweep.jobs import Words


rule figure:
    input:
        unpack(
            lambda wildcards: plan.inputs.figure(
                wildcards.figure, wildcards.folder, wildcards.part
            )
        ),
    output:
        png=report(
            f"{plan.results}{{part}}/figures/{{folder}}/{{figure}}.png",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{folder}",
            labels=lambda wildcards, params: {
                "figure": params.words.title,
                "format": "PNG",
            },
        ),
        svg=report(
            f"{plan.results}{{part}}/figures/{{folder}}/{{figure}}.svg",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{folder}",
            labels=lambda wildcards, params: {
                "figure": params.words.title,
                "format": "SVG",
            },
        ),
        pdf=f"{plan.results}{{part}}/figures/{{folder}}/{{figure}}.pdf",
        description=f"{plan.results}{{part}}/figures/{{folder}}/{{figure}}.json",
        table=f"{plan.results}{{part}}/figures/{{folder}}/{{figure}}.csv",
    log:
        f"{plan.results}/logs{{part}}/figures/{{folder}}/{{figure}}.log",
    benchmark:
        f"{plan.results}/benchmarks{{part}}/figures/{{folder}}/{{figure}}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("figure", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("figure", attempt),
    params:
        figure=lambda wildcards: plan.parameters.figure(
            wildcards.figure, wildcards.folder
        ),
        words=lambda wildcards, output: Words(output.description),
    script:
        "../scripts/figure.py"
