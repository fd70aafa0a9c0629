"""Products of a plan that hold nothing but what they were made from, by the names of their jobs."""

import json
from pathlib import Path

import netCDF4

from bocu.core.io.files import write_text
from bocu.core.io.hashes import hash_files
from bocu.core.io.lineage import LINEAGE, lineage_attributes, lineage_of, making
from bocu.problems.data.prepare import record_raw
from bocu.sweep.experiment.fingerprints.fingerprint import definitions
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.staleness import flat


def write_products(plan: Plan) -> dict[str, str]:
    """Write what a plan that simulates its data comes to; give a file of each job."""
    found: dict[str, str] = {}
    parameters, paths, inputs = plan.parameters, plan.paths, plan.inputs

    def write(name, file, given, names, *others):
        found[name] = file
        with making([file], given, names):
            for output in (file, *others):
                _write(output)

    needed = {file for problem in plan.problems for file in flat(inputs.problem(problem))}
    for dataset, record in (("intel", "log"), ("plant", "svgp")):
        prepared = plan.catalogue.prepared_path(dataset, record, "simulate")
        if prepared not in needed:
            continue
        for raw in inputs.raw(dataset, record, "simulate")["raw"]:
            found[f"data simulate {dataset}"] = raw
            with making([raw], parameters.simulate(dataset, raw), []):
                write_text(raw, "")
                record_raw(raw, "")
        given = parameters.prepared("simulate", dataset, Path(prepared).stem)
        write(f"data prepare {prepared}", prepared, given, flat(inputs.raw(dataset, record, "simulate")))
    for problem in plan.problems:
        for prior in plan.priors(problem):
            file = inputs.problem_paths(problem).prior(prior)
            write(f"prior {problem}/{prior}", file, parameters.prior(problem, prior), flat(inputs.prior(problem)))
    for branch in plan.branches.values():
        for first, last in plan.blocks_of(branch):
            found[f"run {'/'.join(branch.key)}"] = _run_file(plan, branch, first, last)
        names = [*flat(inputs.problem(branch.problem.label)), *plan.products.runs(branch)]
        write(f"score {'/'.join(branch.key)}", paths.score_file(branch), parameters.score(branch), names)
    for problem in plan.problems:
        files = paths.cube(problem), paths.digest(problem)
        write(f"cube {problem}", files[0], parameters.cube(problem), plan.products.scores(problem), files[1])
    write("summary", paths.summary(), parameters.summary(), plan.products.digests())
    for figure, folders in plan.figure_problems.items():
        for folder in folders:
            pictures = [paths.figure(figure, folder, suffix) for suffix in ("json", "png", "svg", "pdf", "csv")]
            names = flat(inputs.figure(figure, folder))
            write(f"figure {folder}/{figure}", pictures[0], parameters.figure(figure, folder), names, *pictures[1:])
    Path(paths.report_tables()).mkdir(parents=True)
    pictures = [file for suffix in ("png", "svg", "pdf", "json", "csv") for file in plan.products.figures(suffix)]
    write("report", paths.report(), parameters.report(), [*pictures, *plan.products.digests(), paths.summary()])
    return found


def _write(file: str) -> None:
    path, lineage = Path(file), lineage_of(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".nc":
        with netCDF4.Dataset(path, "w") as data:
            data.setncatts(lineage_attributes(file))
    elif path.suffix == ".json":
        path.write_text(json.dumps({LINEAGE: json.loads(lineage.text)}))
    else:
        text = lineage.text.replace("&", "&amp;").replace('"', "&#34;") if lineage else ""
        path.write_text(f'<meta name="{LINEAGE}" content="{text}">')


def _run_file(plan, branch, first, last):
    path = Path(plan.paths.run_file(branch, first, last))
    path.parent.mkdir(parents=True, exist_ok=True)
    with netCDF4.Dataset(path, "w") as data:
        data.setncatts(
            {
                **plan.parameters.run(branch, first, last),
                "definitions": json.dumps(definitions(plan.parameters.run_roots(branch))),
                "inputs": json.dumps(hash_files(plan.inputs.problem(branch.problem.label))),
            }
        )
    return str(path)
