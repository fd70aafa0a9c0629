"""Reading everything that an experiment made, to its end: checksums, seals, and hashes of raw files."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bocu.core.errors import BocuError, BrokenFileError
from bocu.data.catalogue import SOURCES
from bocu.evaluation.audits import read_audit
from bocu.experiment.plan import Plan
from bocu.io.chunks import CHUNK_ELEMENTS
from bocu.io.files import read_netcdf, reading
from bocu.io.hashes import sha256
from bocu.runs.records import read_runs
from bocu.sweep.staleness import flat


@dataclass
class Verification:
    """What was found.

    Attributes:
        read: number of files that were read.
        missing: files that are not made yet.
        faults: one line for each.
    """

    read: int = 0
    missing: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def look(self, file: str, read: Callable[[str], Any]) -> Any:
        """Read a file and return what comes of it, or None where it is missing or broken."""
        if not Path(file).exists():
            self.missing.append(file)
            return None
        self.read += 1
        try:
            return read(file)
        except BocuError as error:
            self.faults.append(f"{error.path}: {error.fault}" if isinstance(error, BrokenFileError) else str(error))
            return None


def verify(plan: Plan) -> Verification:
    """Read every file of an experiment, and the data sets that it is made from."""
    found = Verification()
    for file in _prepared(plan):
        prepared = found.look(file, _sealed)
        if prepared is not None:
            _verify_raw(found, file, _raw_files(plan, file), json.loads(prepared.attrs["raw_sha256"]))
    for stage, files in plan.products.by_stage().items():
        for file in files:
            found.look(file, _reader(plan, stage, file))
    for file in plan.products.audits():
        found.look(file, read_audit)
    found.look(plan.paths.report(), _read_page)
    found.look(plan.paths.report_tables(), _read_tables)
    return found


def _prepared(plan: Plan) -> list[str]:
    """Return the prepared data sets of all problems, each once."""
    files = [
        file
        for label in plan.problems
        for inputs in (plan.inputs.problem(label), plan.inputs.prior(label))
        for file in flat(inputs)
    ]
    return [file for file in dict.fromkeys(files) if file.startswith(tuple(f"data/{source}/" for source in SOURCES))]


def _raw_files(plan: Plan, prepared: str) -> list[str]:
    """Return the raw files of a prepared one, and those of the mirror that they were copied from."""
    dataset, record, source, _ = plan.catalogue.prepared_files()[prepared]
    raw, mirror = plan.catalogue.raw_paths(dataset, record, source), plan.experiment.data.mirror
    if source != "mirror" or mirror is None:
        return raw
    return [*raw, *(Path(mirror, dataset, Path(file).name).as_posix() for file in raw)]


def _verify_raw(found: Verification, prepared: str, raw: Sequence[str], hashes: dict[str, str]) -> None:
    """Compare raw files with what a prepared file was made of."""
    for file in raw:

        def read(file: str) -> None:
            wanted = hashes.get(Path(file).name)
            if (digest := sha256(file)) != wanted:
                raise BocuError(f"{file}: SHA-256 {digest}; {prepared} was made of a file with {wanted}")

        found.look(file, read)


def _reader(plan: Plan, stage: str, file: str) -> Callable[[str], Any]:
    if stage == "runs":
        return read_runs
    if stage in ("figures", "claims"):
        return _PICTURES[Path(file).suffix]
    if stage == "scores" or (stage == "cubes" and file != plan.paths.summary()):
        return _read_in_parts
    return _sealed


def _sealed(file: str) -> object:
    return read_netcdf(file, sealed=True)


def _read_in_parts(file: str) -> None:
    """Read an aggregate, whose chunks have checksums, without ever holding it whole."""
    import netCDF4

    with reading(file), netCDF4.Dataset(file) as data:
        for variable in data.variables.values():
            variable.set_auto_maskandscale(False)
            for selection in _parts(variable.shape):
                variable[selection]


def _parts(shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    size = 1
    for length in shape:
        size *= length
    if size <= CHUNK_ELEMENTS or not shape:
        yield (slice(None),) * len(shape) or (...,)
        return
    for index in range(shape[0]):
        for rest in _parts(shape[1:]):
            yield (index, *(rest if len(shape) > 1 else ()))


def _read_png(file: str) -> None:
    from PIL import Image

    try:
        with Image.open(file) as picture:
            picture.verify()
    except (OSError, SyntaxError) as error:  # Pillow's word for a faulty chunk
        raise BrokenFileError(file, f"damaged PNG picture ({error})") from None


def _read_svg(file: str) -> None:
    try:
        ElementTree.fromstring(Path(file).read_bytes())
    except ElementTree.ParseError as error:
        raise BrokenFileError(file, f"no SVG picture ({error})") from None


def _read_pdf(file: str) -> None:
    content = Path(file).read_bytes()
    if not (content.startswith(b"%PDF-") and content.rstrip().endswith(b"%%EOF")):
        raise BrokenFileError(file, "no whole PDF picture")


def _read_json(file: str) -> None:
    try:
        json.loads(Path(file).read_bytes())
    except ValueError as error:
        raise BrokenFileError(file, f"no JSON ({error})") from None


def _read_page(file: str) -> None:
    if not Path(file).read_bytes().rstrip().endswith(b"</html>"):
        raise BrokenFileError(file, "not a whole page: it does not end in </html>")


def _read_tables(folder: str) -> None:
    for file in sorted(Path(folder).glob("*.csv")):
        _read_table(file)


def _read_table(file: str | Path) -> None:
    try:
        with Path(file).open(encoding="utf-8", newline="") as stream:
            widths = {len(row) for row in csv.reader(stream, strict=True)}
    except (csv.Error, UnicodeDecodeError) as error:
        raise BrokenFileError(file, f"no CSV table ({error})") from None
    if len(widths) != 1:
        raise BrokenFileError(file, "rows of different lengths, or none")


_PICTURES: dict[str, Callable[[str], None]] = {
    ".png": _read_png,
    ".svg": _read_svg,
    ".pdf": _read_pdf,
    ".json": _read_json,
    ".csv": _read_table,
}
