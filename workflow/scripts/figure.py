"""Draw one figure."""

import json

from bocu.sweep.jobs import job

with job(snakemake):
    from bocu.core.loading import load
    from bocu.figures.base import save

    specification = json.loads(snakemake.params.figure["specification"])
    target = load(specification["class"])
    figure = target(target.Parameters.model_validate(specification["parameters"]))
    inputs = dict(snakemake.input.items())
    if "problem" in snakemake.params.figure:
        inputs["problem"] = json.loads(snakemake.params.figure["problem"])
    drawing = figure.draw(inputs)
    save(drawing, snakemake.output.png, snakemake.output.svg, snakemake.output.description)
