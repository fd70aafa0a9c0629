"""Jobs without the start of an interpreter: one process imports what jobs need, and forks a child for each of them.

`zygote` is that process, `workers` the side of the program that has jobs to run. Neither knows Snakemake, whose
executor plug-in `snakemake_executor_plugin_warm` stands on them.
"""
