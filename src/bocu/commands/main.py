"""The command line: `bocu run`, `bocu list`, ... Each command imports what it needs when it is called.

To add one, write the function and add its line to `COMMANDS`.
"""

import sys
from typing import Annotated

import typer

from bocu.core.errors import BocuError
from bocu.core.io.progress import AtWork
from bocu.core.loading import load, naming_extras
from bocu.core.numerics import pin_kernel

COMMANDS = {
    "run": "bocu.commands.experiments:run_command",
    "list": "bocu.commands.listing:list_command",
    "check": "bocu.commands.experiments:check_command",
    "init": "bocu.commands.new:init_command",
    "new": "bocu.commands.new:new_command",
    "design": "bocu.commands.products:design_command",
    "schema": "bocu.commands.schema:schema_command",
    "worst-case": "bocu.commands.worst_case:worst_case_command",
    "suggest": "bocu.commands.advice:suggest_command",
    "replay": "bocu.commands.advice:replay_command",
    "plan": "bocu.commands.plan:plan_command",
    "status": "bocu.commands.status:status_command",
    "resume": "bocu.commands.resume:resume_command",
    "accept": "bocu.commands.experiments:accept_command",
    "why": "bocu.commands.experiments:why_command",
    "diff": "bocu.commands.diff:diff_command",
    "reduce": "bocu.commands.products:reduce_command",
    "submit": "bocu.commands.archive:submit_command",
    "archive": "bocu.commands.archive:archive_command",
    "id": "bocu.commands.archive:id_command",
    "prune": "bocu.commands.experiments:prune_command",
    "verify": "bocu.commands.experiments:verify_command",
    "report": "bocu.commands.products:report_command",
    "audit": "bocu.commands.experiments:audit_command",
    "claims": "bocu.commands.claims:claims_command",
    "crate": "bocu.commands.products:crate_command",
}
# Options of theirs that are not stated here: the keys of a set, which its class knows.
_KEYS_OF_A_SET = {"allow_extra_args": True, "ignore_unknown_options": True}
OPEN_ENDED = {"worst-case": _KEYS_OF_A_SET, "suggest": _KEYS_OF_A_SET, "replay": _KEYS_OF_A_SET}

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # or lines of a docstring are not joined
    help="Robust Bayesian optimisation under an uncontrolled context.",
)
for _name, _target in COMMANDS.items():
    app.command(_name, context_settings=OPEN_ENDED.get(_name))(load(_target))


def _add_offered() -> None:
    """Add the commands that installed packages offer; one that is broken hides no other."""
    from importlib.metadata import entry_points

    for point in entry_points(group="bocu.commands"):
        if point.name in COMMANDS:
            continue
        try:
            app.command(point.name)(point.load())
        except Exception as error:  # of their code
            print(f"warning: command '{point.name}' ({point.value}): {type(error).__name__}: {error}", file=sys.stderr)


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
    pin_kernel()
    if not COMMANDS.keys() & sys.argv[1:2]:  # looking for others takes a moment
        _add_offered()
    try:
        with AtWork(" ".join(["bocu", *sys.argv[1:2]])), naming_extras():
            app()
    except BocuError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
