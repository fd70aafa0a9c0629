"""`bocu claims`: what is claimed, and what the numbers that stand say of it."""

import csv
import io
import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bocu.core.errors import BocuError
from bocu.core.written import counted, table

if TYPE_CHECKING:
    from bocu.pages.report.tables import Fields


class Form(StrEnum):
    """How verdicts are printed."""

    TEXT, JSON, CSV, MARKDOWN = "text", "json", "csv", "markdown"


def claims_command(
    file: Annotated[Path, typer.Argument(help="Claims file, such as config/claims/ziomek2025.yaml.")],
    results: Annotated[
        Path,
        typer.Option(
            help="Results: a folder with one for each experiment, or with reduced ones, NAME.nc; or one of these."
        ),
    ] = Path("results"),
    experiment: Annotated[
        str | None,
        typer.Option(help="Judge by this one, of the same labels, what the file says of its own experiment."),
    ] = None,
    swap: Annotated[
        str | None,
        typer.Option(help="Of --experiment take one method alone, THERE in the place of LABEL: LABEL=THERE."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every comparison.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, a row a claim.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a section of a page.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Markdown page to write the section into, between its marks; PAGE-claims.svg goes beside it."
        ),
    ] = None,
) -> None:
    """List the claims of a file with verdicts from the cubes that stand.

    A claim holds or fails where 95 % intervals over at least 30 paired seeds say so, corrected by Holm for the claims
    of its family that were run. Where they say so before the correction alone, or over 10 to 29 seeds, it leans to a
    side; else it is open. Without a cube of its problems it is not run. Nothing is made anew.
    """
    from bocu.core.io.files import write_text
    from bocu.pages.report.claims import StandingCubes, judge, published_of, section, write_section
    from bocu.pages.report.forests import drawn_claims

    wanted = [form for form, asked in zip(list(Form)[1:], (as_json, as_csv, as_markdown), strict=True) if asked]
    if len(wanted) > 1:
        raise BocuError("--json, --csv, --markdown: found several; allowed: one of them")
    cubes = StandingCubes(results)
    exchanged = None if swap is None else swap.partition("=")[::2]
    if exchanged and not (experiment and all(exchanged)):
        raise BocuError(f"--swap: found {swap}; wanted: LABEL=THERE, with --experiment")
    records = judge(file, cubes, experiment, exchanged)
    form = wanted[0] if wanted else Form.TEXT
    if form is Form.MARKDOWN or page is not None:
        judged_by = f" --experiment {experiment}" if experiment else ""
        judged_by += f" --swap {swap}" if swap else ""
        judged_by += "" if results == Path("results") else f" --results {results.as_posix()}"
        written = f" --page {page.as_posix()}" if page else " --markdown"
        command = f"bocu claims {file.as_posix()}{judged_by}{written}"
        picture = "" if page is None else f"{page.stem}-claims.svg"
        text = section(records, cubes, command, picture)
        if page is not None:
            write_section(page, text)
            write_text(page.with_name(picture), drawn_claims(records))
        if form is Form.MARKDOWN:
            typer.echo(text, nl=False)
    if form is Form.JSON:
        typer.echo(json.dumps(records, indent=2, allow_nan=False))
    elif form is Form.CSV:
        typer.echo(_csv(records), nl=False)
    elif form is Form.TEXT:
        typer.echo("\n".join(_text(records)))
        for line in cubes.scales(records):
            typer.echo(f"judged by {line.replace('`', '')}")
        experiments = dict.fromkeys(record["experiment"] for record in records)
        if (where := published_of(file, experiments)) and not where.endswith(f" {results.as_posix()}"):
            typer.echo(where)


def _csv(records: "list[Fields]") -> str:
    from bocu.pages.report.claims import COLUMNS, csv_records

    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS["claims"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(csv_records(records)["claims"])
    return text.getvalue()


def _text(records: "list[Fields]") -> Iterator[str]:
    from bocu.pages.report.claims import numbers, row, tally, why
    from bocu.sweep.evaluation.claims import NOT_RUN

    def cells(record: "dict[str, Any]") -> tuple[str, ...]:
        _, _, _, _, seeds, *p_values, _ = row(record)
        reasons = [why(record), *(numbers(record) if record["verdict"] != NOT_RUN else ())]
        return record["id"], record["verdict"], seeds, *p_values, "; ".join(filter(None, reasons))

    yield from table(("claim", "verdict", "seeds", "p", "corrected", "numbers"), map(cells, records))
    yield f"\n{counted(len(records), 'claim')}: {tally([record['verdict'] for record in records])}"
