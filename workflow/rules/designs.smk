# Initial designs that are given. The copy is named by what it holds and has no input, so that a moved file reruns
# nothing; for the same reason `run` asks the plan where the file is, and no parameter says it.

from bocu.sweep.experiment.record import copy_design
from bocu.sweep.jobs import logged


localrules:
    design,


rule design:
    output:
        f"{plan.results}/designs/{{sha256}}.csv",
    log:
        f"{plan.results}/logs/designs/{{sha256}}.log",
    run:
        with logged(log[0]):
            copy_design(plan, wildcards.sha256, output[0])
