"""The option by which a user believes what lies under results/."""

from typing import Annotated

import typer

Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Run what files under results/ name: experiments with classes of their own, links out of it."
    ),
]
