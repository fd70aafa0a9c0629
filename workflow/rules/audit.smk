# Worst cases of the runs, solved again by an independent solver: made only when it is asked for, by `snakemake audit` or
# `bocu audit`; from then on the report shows it, and it is brought up to date with the runs.

from bocu.sweep.jobs import logged


localrules:
    audit,


rule audit:
    input:
        lambda wildcards: plan.products.audited(),
    output:
        f"{plan.results}/audit.json",
    log:
        f"{plan.results}/logs/audit.log",
    benchmark:
        f"{plan.results}/benchmarks/audit.tsv"
    run:
        from bocu.interop.cvxpy.audit import audit as solve_again

        with logged(log[0]):
            solve_again(plan).write(output[0])
