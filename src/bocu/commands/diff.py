"""`bocu diff`: whether two results are the same, in their bits or within what seeds leave open."""

import sys
from collections import Counter
from contextlib import ExitStack
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bocu.core.errors import BocuError
from bocu.core.written import table

if TYPE_CHECKING:
    from bocu.sweep.evaluation.agreement import Agreement

SAME, DIFFERENT, FAULT = 0, 1, 2
_NAMED = 3  # runs that only one side has


def diff_command(
    one: Annotated[Path, typer.Argument(help="Run file, prior, score or cube; or a folder such as results/NAME.")],
    other: Annotated[
        Path, typer.Argument(help="What to compare it with: another file, or another folder; reduced results.")
    ],
    within: Annotated[
        bool, typer.Option("--within", help="Compare regret over seeds by intervals: for another CPU.")
    ] = False,
    level: Annotated[
        float, typer.Option(min=0.5, max=0.9999, help="Confidence of all intervals of --within together.")
    ] = 0.95,
) -> None:
    """Compare two results without times and provenance.

    Numbers are compared bit by bit. Of each variable that differs the first entry is shown, by the labels of its
    coordinates, and the largest difference. With --within regret of every problem, objective, algorithm and metric is
    compared by intervals over seeds, paired where both have the same seeds, up to the last round that both have. Exit
    status: 0 the same (or: nothing differs), 1 different, 2 not to be compared.
    """
    try:
        same = _agree(one, other, level) if within else _compare(one, other)
    except BocuError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(FAULT) from None
    raise typer.Exit(SAME if same else DIFFERENT)


def _compare(one: Path, other: Path) -> bool:
    from bocu.sweep.differences import file_differences, made_otherwise, pairs

    files, alone = pairs(one, other)
    unequal = 0
    for a, b in files:
        found = list(file_differences(a, b))
        if found:
            unequal += 1
            typer.echo(f"{a} and {b} differ")
        for difference in found:
            typer.echo(f"  {difference.what}: {difference.text}")
    if unequal and (told := made_otherwise(one, other)):
        typer.echo(f"made by {told}")
    for path in alone:
        typer.echo(f"only {path}")
    if not unequal and not alone:
        typer.echo("identical, times and provenance aside" + (f": {len(files)} files" if one.is_dir() else ""))
    elif one.is_dir():
        typer.echo(f"{len(files) - unequal} of {len(files)} files identical, {len(alone)} only on one side")
    return not unequal and not alone


def _agree(one: Path, other: Path, level: float) -> bool:
    from bocu.sweep.differences import made_otherwise
    from bocu.sweep.evaluation.agreement import DIFFERS, EQUAL, OTHER_ROUNDS, agreements, reduced_against
    from bocu.sweep.evaluation.claims.reduced import numbers_in

    with ExitStack() as files:
        sides = (numbers_in(one, files), numbers_in(other, files))
        found, scale = agreements(*sides, level), reduced_against(*sides)
    if not found.shared:
        raise BocuError(f"{one}, {other}: nothing that both have: no run of a problem under a metric")
    if all(agreement.verdict == OTHER_ROUNDS for agreement in found.shared):
        raise BocuError(
            f"{one}, {other}: of every problem that both have, one has more rounds than the other, none kept of both"
        )
    told = [agreement for agreement in found.shared if agreement.verdict != EQUAL]
    head = ("problem", "objective", "algorithm", "metric", "regret", "verdict", "difference", "seeds", "p")
    if told:
        typer.echo("\n".join(table(head, map(_cells, told))))
        if made := made_otherwise(one, other):
            typer.echo(f"made by {made}")
    if found.alone:
        more = ", ..." if len(found.alone) > _NAMED else ""
        typer.echo(f"only on one side: {len(found.alone)} runs, {', '.join(found.alone[:_NAMED])}{more}")
    if scale:
        typer.echo(scale)
    counts = Counter(agreement.verdict for agreement in found.shared)
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    typer.echo(f"{len(found.shared)} compared at {level:.4g}, corrected together (Holm): {listed}")
    return not counts[DIFFERS]


def _cells(found: "Agreement") -> tuple[str, ...]:
    gap, place = found.gap, found.place
    interval = "-" if isnan(gap.value) else f"{gap.value:.3g} [{gap.low:.3g}, {gap.high:.3g}]"
    return (
        found.problem,
        place.objective,
        place.algorithm,
        place.metric,
        found.word,
        found.verdict,
        interval,
        f"{gap.count} {'paired' if found.paired else 'unpaired'}",
        "-" if isnan(found.p_value) else f"{found.p_value:.2g}",
    )
