"""The command line: `bocu run`, `bocu list`, ... Each command imports what it needs when it is called."""

import sys
from typing import Annotated

import typer

from bocu.commands.check import check_command
from bocu.commands.design import design_command
from bocu.commands.diff import diff_command
from bocu.commands.listing import list_command
from bocu.commands.plan import plan_command
from bocu.commands.prune import prune_command
from bocu.commands.resume import resume_command
from bocu.commands.run import run_command
from bocu.commands.schema import schema_command
from bocu.commands.status import status_command
from bocu.commands.verify import verify_command
from bocu.commands.why import why_command
from bocu.commands.worst_case import worst_case_command
from bocu.core.errors import BocuError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # or lines of a docstring are not joined
    help="Robust Bayesian optimisation under an uncontrolled context.",
)
app.command("run")(run_command)
app.command("list")(list_command)
app.command("check")(check_command)
app.command("design")(design_command)
app.command("schema")(schema_command)
app.command("worst-case")(worst_case_command)
app.command("plan")(plan_command)
app.command("status")(status_command)
app.command("resume")(resume_command)
app.command("why")(why_command)
app.command("diff")(diff_command)
app.command("prune")(prune_command)
app.command("verify")(verify_command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"bocu {version('bocu')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command; a fault of the user's ends with one line and exit status 1."""
    try:
        app()
    except BocuError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
