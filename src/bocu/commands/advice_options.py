"""Options that `bocu suggest` and `bocu replay` share."""

from pathlib import Path
from typing import Annotated

import typer

from bocu.commands.outputs import writable

Log = Annotated[Path, typer.Argument(help="CSV or JSON file: decisions, contexts and outcome, a row each time.")]
Decisions = Annotated[str | None, typer.Option(help="What is decided: 'price:1..20,staff:int:1..8,shelf:{low,high}'.")]
Contexts = Annotated[str | None, typer.Option(help="Columns of what is met after deciding: temperature,rain.")]
Outcome = Annotated[str | None, typer.Option(help="Column of what was earned, or paid; of several: profit,waste:min.")]
Weights = Annotated[
    str | None, typer.Option(help="Of several outcomes, what a unit of each counts: profit=1,waste=20.")
]
Constraints = Annotated[
    list[str] | None, typer.Option(help="Linear constraint between decisions: 'staff + 2*shelf <= 10'; repeatable.")
]
Alternatives = Annotated[
    Path | None, typer.Option(help="CSV or JSON file with a row for each decision there is to choose from.")
]
ObjectiveName = Annotated[str, typer.Option(help="dro, so, ro or cvar.")]
SetName = Annotated[str, typer.Option("--set", help="Name of the ambiguity set (see `bocu list sets`).")]
Alpha = Annotated[float, typer.Option(help="Share of worst contexts, of `--objective cvar`.")]
Minimise = Annotated[bool, typer.Option("--minimise/--maximise", help="Whether the outcome is a cost.")]
Names = Annotated[str, typer.Option(help="How names to choose from are told apart: one-hot or hamming.")]
Time = Annotated[str | None, typer.Option(help="Column of dates or numbers: the order of rows.")]
Forget = Annotated[
    str | None, typer.Option(help="Half-life of rows: 90d, 12h, 6w, 2y, a number of rows, or `estimate`.")
]
Horizon = Annotated[int | None, typer.Option(help="Rows that an estimated radius is to hold for.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")]
Report = Annotated[
    Path | None, typer.Option(help="HTML file to write: all of it on one page, with pictures.", callback=writable)
]
