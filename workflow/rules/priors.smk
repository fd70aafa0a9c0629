# Candidate priors, one job each.


rule fit_prior:
    input:
        unpack(lambda wildcards: plan.inputs.prior(wildcards.problem)),
    output:
        f"{plan.results}/priors/{{problem}}/{{prior}}.nc",
    log:
        f"{plan.results}/logs/priors/{{problem}}/{{prior}}.log",
    benchmark:
        f"{plan.results}/benchmarks/priors/{{problem}}/{{prior}}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: stage_memory("fit_prior", attempt),
        runtime=lambda wildcards, attempt: stage_minutes("fit_prior", attempt),
    params:
        prior=lambda wildcards: plan.parameters.prior(
            wildcards.problem, wildcards.prior
        ),
    script:
        "../scripts/fit_prior.py"
