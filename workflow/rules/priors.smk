# Candidate priors, one job each.

from bocu.experiment.resources import memory, minutes


rule fit_prior:
    input:
        unpack(lambda wildcards: plan.inputs.prior(wildcards.problem)),
    output:
        plan.results + "/priors/{problem}/{prior}.nc",
    log:
        plan.results + "/logs/priors/{problem}/{prior}.log",
    resources:
        mem_mb=lambda wildcards, attempt: memory(1000, attempt),
        runtime=lambda wildcards, attempt: minutes(300, attempt),
    params:
        prior=lambda wildcards: plan.parameters.prior(
            wildcards.problem, wildcards.prior
        ),
    script:
        "../scripts/fit_prior.py"
