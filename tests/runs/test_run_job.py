"""`bocu.sweep.runs.job`: what the script of a run job calls."""

from experiments import tiny

from bocu.core.io.lineage import unfold
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.job import run_block
from bocu.sweep.runs.records import read_runs


def test_a_block_is_run_from_the_parameters_of_its_rule(elsewhere):
    plan = make_plan(tiny())
    branch = plan.branch("hills", "any", "random")
    file, parameters = plan.paths.run_file(branch, 0, 1), plan.parameters.run(branch, 0, 1)
    run_block(unfold(parameters), plan.inputs.problem("hills"), file, plan.parameters.script("run"), 20.0)
    runs = read_runs(file)
    assert runs.sizes["seed"] == 2
    assert runs.attrs["fingerprint"] == parameters["fingerprint"]
    assert '"run.py"' in runs.attrs["definitions"]
    assert (elsewhere / "results/.run-cache").is_dir()
