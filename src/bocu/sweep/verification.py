"""Whether everything that an experiment made is as it was written: records, seals, and hashes of raw files."""

import functools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bocu.core.errors import BocuError, BrokenFileError, one_line
from bocu.core.io.chunks import CHUNK_ELEMENTS
from bocu.core.io.files import read_netcdf, reading
from bocu.core.io.hashes import SUFFIX, checked, record_digest, recorded, refuse_edited
from bocu.core.io.lineage import SEAL
from bocu.problems.data.catalogue import SOURCES
from bocu.sweep.calls import CALLS
from bocu.sweep.experiment.paths import PARTIAL
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.origin_files import OriginFiles


@dataclass
class Verification:
    """What was found."""

    plan: Plan  #: the experiment.
    read: list[str] = field(default_factory=list)  #: files that were read.
    missing: list[str] = field(default_factory=list)  #: files that are not made yet.
    unrecorded: list[str] = field(default_factory=list)  #: files of which nothing was recorded; they are from now on.
    faults: list[str] = field(default_factory=list)  #: one line for each.

    def look(self, file: str, read: Callable[[str], Any]) -> Any:
        """Read a file and return what comes of it, or None where it is missing or broken."""
        if not Path(file).exists():
            self.missing.append(file)
            return None
        self.read.append(file)
        try:
            return read(file)
        except BrokenFileError as error:
            again = f"delete it, and `{self._makes(file)}` makes it again"
            self.faults.append(f"{error.path}: {one_line(error.fault)}; {again}")
        except BocuError as error:
            self.faults.append(str(error))
        return None

    def _makes(self, file: str) -> str:
        if file == self.plan.paths.audit:
            return f"bocu audit {self.plan.experiment.name}"
        command = OriginFiles(self.plan.describe(), Path(self.plan.results), Path()).sweep_command()
        # What Snakemake does not know of is written when jobs begin.
        stages = {*self.plan.products.by_stage(), PARTIAL.strip("/"), "report"}
        inside = Path(file).is_relative_to(self.plan.results)
        stage = Path(file).relative_to(self.plan.results).parts[0] if inside else ""
        return f"{command} --forcerun report" if inside and stage not in stages else command


def verify(plan: Plan) -> Verification:
    """Compare every file of an experiment, and the data sets that it is made from, with what was written."""
    found = Verification(plan)
    for file in _prepared(plan):
        prepared = found.look(file, functools.partial(read_netcdf, sealed=True))
        if prepared is not None:
            _verify_raw(found, file, _raw_files(plan, file), json.loads(prepared.attrs["raw_sha256"]))
    for file in dict.fromkeys(_files(plan)):
        if file not in found.read:
            found.look(file, functools.partial(_as_written, found))
    return found


def _files(plan: Plan) -> Iterator[str]:
    """Return all that is planned, and what else is recorded: partial results, notes of calls, raw files."""
    for product in [*plan.products.every(), *plan.products.audits(), plan.paths.record]:
        inside = (file for file in sorted(Path(product).glob("[!.]*")) if file.suffix != SUFFIX)
        yield from [file.as_posix() for file in inside] or [product]
    for folder in dict.fromkeys(
        [plan.results, CALLS.as_posix(), *(Path(file).parent.as_posix() for file in _prepared(plan))]
    ):
        for known in sorted(Path(folder).rglob(f"*{SUFFIX}")):
            if (file := known.with_suffix("")).is_file():
                yield file.as_posix()


def _as_written(found: Verification, file: str) -> None:
    """Compare a file with what is recorded of it; one of which nothing is, is read, and recorded as it stands."""
    if recorded(file) is None:
        if Path(file).suffix == ".nc":
            _read_whole(file)
        record_digest(file, "bocu verify")
        found.unrecorded.append(file)
    refuse_edited(file)


def _prepared(plan: Plan) -> list[str]:
    """Return the prepared data sets of all problems, each once."""
    folders = tuple(f"data/{source}/" for source in SOURCES)
    return [file for file in plan.inputs.of_problems() if file.startswith(folders)]


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
            if (digest := checked(file)) != wanted:
                raise BocuError(f"{file}: SHA-256 {digest}; {prepared} was made of a file with {wanted}")

        found.look(file, read)


def _read_whole(file: str) -> None:
    """Compare a NetCDF file with its seal; an aggregate, which has none, with its checksums, never holding it whole."""
    import netCDF4

    with reading(file), netCDF4.Dataset(file) as data:
        if SEAL in data.ncattrs():
            read_netcdf(file)
            return
        for variable in data.variables.values():
            variable.set_auto_maskandscale(False)
            # Whole, or of the leading dimensions so many places one by one that a part can be held.
            parts = next(n for n in range(variable.ndim + 1) if math.prod(variable.shape[n:]) <= CHUNK_ELEMENTS)
            for place in np.ndindex(variable.shape[:parts]):
                variable[place or ...]
