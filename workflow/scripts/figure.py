"""Draw one figure."""

import json

from bocu.jobs import job

with job(snakemake):
    from bocu.figures.base import save
    from bocu.loading import load

    specification = json.loads(snakemake.params.figure["specification"])
    target = load(specification["class"])
    figure = target(target.Parameters.model_validate(specification["parameters"]))
    drawing = figure.draw(dict(snakemake.input.items()))
    save(drawing, snakemake.output.png, snakemake.output.svg, snakemake.output.description)
