"""Build the report."""

from bocu.sweep.jobs import job

with job(snakemake) as parameters:
    from bocu.pages.report.build import Part, build_page

    experiment, made, figures = parameters["experiment"], snakemake.input, list(snakemake.input.descriptions)
    if asked := parameters.get("archive"):
        from pathlib import Path

        from bocu.core.loading import load

        cubes = [Path(file) for file in made.compared if "/cubes/" in file]
        figures.insert(0, str(load(parameters["beside"])(asked, cubes, Path(snakemake.output.tables))))
    part = Part(experiment, made.digests, made.summary, figures, made.audit, made.claims)
    build_page([part], snakemake.output.page, experiment["reference"])
