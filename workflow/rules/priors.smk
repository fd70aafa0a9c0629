# Candidate priors, one job each.


rule fit_prior:
    input:
        unpack(lambda wildcards: plan.prior_inputs(wildcards.problem)),
    output:
        plan.results + "/priors/{problem}/{prior}.nc",
    log:
        plan.results + "/logs/priors/{problem}/{prior}.log",
    params:
        prior=lambda wildcards: plan.prior_parameters(
            wildcards.problem, wildcards.prior
        ),
    script:
        "../scripts/fit_prior.py"
