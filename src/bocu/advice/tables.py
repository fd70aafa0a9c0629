"""Tables as people keep them: CSV and JSON files, pandas tables, xarray data sets, columns by name."""

import codecs
import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError, shown


@dataclass(frozen=True)
class LogTable:
    """Columns of text or numbers.

    Attributes:
        name: where they come from, for error lines.
        columns: by name, all of one length.
        lines: what a row is called in error lines.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[str]

    def column(self, name: str, role: str) -> Sequence[Any]:
        """Return a column.

        Raises:
            BocuError: there is none of that name.
        """
        if name not in self.columns:
            raise BocuError(f"{self.name}: no column '{name}' ({role}); found {', '.join(self.columns) or 'none'}")
        return self.columns[name]


def read_log_table(source: Any, name: str) -> LogTable:
    """Read a CSV or JSON file, a pandas table, an xarray data set, or columns by name; a table is returned as it is.

    Columns of a file are separated by commas, semicolons or tabs, whichever its first line has most of.

    Raises:
        BocuError: the file cannot be read, is empty, has a column twice, or a row of another length.
    """
    if isinstance(source, LogTable):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        return _read_json(path) if path.suffix.lower() == ".json" else _read_csv(path)
    if hasattr(source, "to_dataframe"):
        source = source.to_dataframe().reset_index()
    return _columns(source, name)


def _read_json(path: Path) -> LogTable:
    """Read a list of rows by name, or columns by name."""
    try:
        found = json.loads(_text_of(path))
    except ValueError as error:
        raise BocuError(f"{path}: found no JSON: {error}") from None
    if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        names = list(dict.fromkeys(str(name) for row in found for name in row))
        return LogTable(
            str(path),
            {name: [row.get(name) for row in found] for name in names},
            [f"row {i}" for i in range(1, len(found) + 1)],
        )
    if isinstance(found, dict) and found and all(isinstance(column, list) for column in found.values()):
        return _columns(found, str(path))
    raise BocuError(f'{path}: a list of rows such as {{"rain": 2}} is wanted, or columns such as {{"rain": [2, 0]}}')


def _columns(source: Mapping[Any, Any], name: str) -> LogTable:
    columns = {str(key): list(source[key]) for key in source}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise BocuError(f"{name}: columns have {', '.join(map(str, sorted(lengths)))} rows; one length is wanted")
    return LogTable(name, columns, [f"row {i}" for i in range(1, max(lengths, default=0) + 1)])


def _text_of(path: Path) -> str:
    """Return the text of a file in UTF-8 or, where it begins with a byte order mark, in UTF-16."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BocuError(f"{path}: {error.strerror}") from None
    encoding = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise BocuError(f"{path}: found text that is not in UTF-8; save it as UTF-8") from None
    if "\0" in text:
        raise BocuError(f"{path}: found no text; a CSV file is wanted")
    return text


def _read_csv(path: Path) -> LogTable:
    text = _text_of(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(",;\t", key=first.count)
    try:
        numbered = [
            (reader.line_num, [cell.strip() for cell in row])
            for reader in [csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)]
            for row in reader
        ]
    except csv.Error as error:
        raise BocuError(f"{path}: {error}") from None
    numbered = [(line, row) for line, row in numbered if any(row)]
    if not numbered:
        raise BocuError(f"{path}: the file is empty; a first line with names of columns is wanted")
    (_, head), *body = numbered
    while head and not head[-1]:  # separators at the ends of lines
        head.pop()
    for name in head:
        if not name:
            raise BocuError(f"{path}: column {head.index(name) + 1} has no name; the first line names columns")
        if head.count(name) > 1:
            raise BocuError(f"{path}: the column {shown(name)} stands twice")
    for line, row in body:
        while len(row) > len(head) and not row[-1]:
            row.pop()
        if len(row) != len(head):
            hint = "; decimal commas need semicolons between columns" if separator == "," else ""
            raise BocuError(f"{path}: line {line}: found {len(row)} values, the first line names {len(head)}{hint}")
    return LogTable(
        str(path),
        {name: [row[i] for _, row in body] for i, name in enumerate(head)},
        [f"line {line}" for line, _ in body],
    )
