"""The catalogue of data sets (`data/sources.yaml`): what exists, where it comes from, and where it lies on disk.

A data set has records, alternative raw forms of it in order of preference; a record has files. Four sources offer
records: `download`, `mirror` (a local folder with `<dataset>/<file>`), `shipped` (what came with the project) and
`simulate`. Every path begins with `data/<source>/<dataset>/`, so that real and simulated data never share one. Planning
reads this module: it imports neither numpy nor torch and opens no data file.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args

from pydantic import Field, StringConstraints

from bocu.core.errors import BocuError
from bocu.core.io.yaml_files import read_yaml
from bocu.core.parameters import Parameters, nearest, validate

Source = Literal["download", "mirror", "shipped", "simulate"]
SOURCES: tuple[str, ...] = get_args(Source)

# Which sources may serve an experiment that names one, in order of preference: what came with the project stands in
# where the named source has nothing of a data set.
_SERVED_BY: dict[str, tuple[str, ...]] = {
    "download": ("download", "shipped"),
    "mirror": ("mirror", "shipped"),
    "shipped": ("shipped", "simulate"),
    "simulate": ("simulate", "shipped"),
}

SourceLabel = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.=-]*$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]
Function = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]


class RawFile(Parameters):
    """One raw file: where it is published and how to recognise it."""

    name: FileName = Field(description="file name, in the mirror folder and under raw/")
    url: Url | None = Field(default=None, description="where it is published; none: no download")
    sha256: Sha256 | None = Field(default=None, description="SHA-256 of the published file, where known")
    bytes: int | None = Field(default=None, gt=0, description="size in bytes, where known")
    only: tuple[Source, ...] | None = Field(
        default=None, description="sources that have the file; none: all of the record's"
    )


class Computed(Parameters):
    """How a shipped table is computed anew by a simulator, in parts (`workflow/rules/tables.smk`)."""

    table: Function = Field(
        description="module:Class of the table, a `bocu.problems.data.simulators.tables.TableSimulator`"
    )
    parts: int = Field(ge=1, description="number of jobs that it is cut into")


class RawForm(Parameters):
    """One raw form of a data set: the files that are prepared together."""

    description: str = Field(min_length=1, description="what the files hold, with units")
    origin: str | None = Field(default=None, description="where this form was found, if not at the data set's homepage")
    sources: tuple[Source, ...] = Field(min_length=1, description="who offers it: " + ", ".join(SOURCES))
    intervals: tuple[int, ...] | None = Field(
        default=None, description="minutes to which it can be resampled; the first is the default; none: no such choice"
    )
    prepare: Function = Field(
        description="module:function that makes the NetCDF file; called with raw files, output, origin and, where "
        "there are intervals, the minutes"
    )
    files: tuple[RawFile, ...] = Field(min_length=1, description="its raw files")
    computed: Computed | None = Field(
        default=None, description="of a table that a simulator filled, which came with the project: by what"
    )

    def files_of(self, source: str) -> list[RawFile]:
        """Return the files that a source brings."""
        return [file for file in self.files if source in (file.only or SOURCES)]


class Dataset(Parameters):
    """One data set with its provenance."""

    title: str = Field(min_length=1, description="what a page calls it")
    homepage: Url = Field(description="where it is described")
    licence: str = Field(min_length=1, description="terms of use, as far as they are stated")
    citation: str = Field(min_length=1, description="how to cite it")
    records: dict[SourceLabel, RawForm] = Field(min_length=1, description="raw forms, the preferred one first")


class Prepared(NamedTuple):
    """Which record a prepared file holds, of which source, and the minutes where it has a choice of intervals."""

    dataset: str
    record: str
    source: str
    minutes: int | None


class Catalogue(Parameters):
    """All data sets. Paths are relative to the working directory."""

    datasets: dict[SourceLabel, Dataset] = Field(min_length=1, description="data sets by name")

    def dataset(self, dataset: str) -> Dataset:
        """Look up a data set."""
        return _get(self.datasets, dataset, "data set")

    def record(self, dataset: str, record: str) -> RawForm:
        """Look up a record of a data set."""
        return _get(self.dataset(dataset).records, record, f"record of data set '{dataset}'")

    def file(self, dataset: str, file: str) -> RawFile:
        """Look up a file that is downloaded."""
        files = {entry.name: entry for record in self.dataset(dataset).records.values() for entry in record.files}
        return _get(files, file, f"file of data set '{dataset}'")

    def file_names(self, dataset: str, source: str) -> list[str]:
        """Names of the raw files that a source can bring of a data set, each once, in order."""
        records = [record for record in self.dataset(dataset).records.values() if source in record.sources]
        return list(dict.fromkeys(file.name for record in records for file in record.files_of(source)))

    def raw_paths(self, dataset: str, record: str, source: str) -> list[str]:
        """Where the raw files of a record lie: `data/<source>/<dataset>/raw/<file>`.

        Shipped files that are not in the working folder are those of the package.

        Raises:
            BocuError: no such data set, record or source, or the source does not offer the record.
        """
        entry = self._offered(dataset, record, source)
        folder = f"data/{source}/{dataset}/raw"
        if source == "shipped" and not Path(folder).is_dir():
            folder = Path(__file__).with_name("shipped").joinpath(dataset, "raw").as_posix()
        return [f"{folder}/{file.name}" for file in entry.files_of(source)]

    def prepared_path(self, dataset: str, record: str, source: str, minutes: int | None = None) -> str:
        """Where a prepared record lies: `data/<source>/<dataset>/<record>[-<minutes>min].nc`.

        `minutes` is the resampling interval; left out, it is the record's first. Records without a choice take none.

        Raises:
            BocuError: no such data set, record or source, or an interval that the record does not have.
        """
        entry = self._offered(dataset, record, source)
        if entry.intervals is None:
            if minutes is not None:
                raise BocuError(f"data set '{dataset}', record '{record}': interval {minutes} min; allowed: none")
            return f"data/{source}/{dataset}/{record}.nc"
        chosen = entry.intervals[0] if minutes is None else minutes
        if chosen not in entry.intervals:
            allowed = ", ".join(str(interval) for interval in entry.intervals)
            raise BocuError(f"data set '{dataset}', record '{record}': interval {minutes} min; allowed: {allowed}")
        return f"data/{source}/{dataset}/{record}-{chosen}min.nc"

    def prepared_files(self) -> dict[str, Prepared]:
        """Return every prepared file that some source can bring, by its path."""
        found = (
            Prepared(dataset, name, source, minutes)
            for dataset, entry in self.datasets.items()
            for name, record in entry.records.items()
            for source in record.sources
            for minutes in record.intervals or (None,)
        )
        return {self.prepared_path(*prepared): prepared for prepared in found}

    def prepared_file(self, source: str, dataset: str, prepared: str) -> Prepared:
        """Look up a prepared file by its source, its data set and its own name, such as `log-10min`.

        Raises:
            BocuError: no source brings such a file.
        """
        files = self.prepared_files()
        return _get(files, f"data/{source}/{dataset}/{prepared}.nc", "prepared data set")

    def prepared_pattern(self) -> str:
        """Return a regular expression for `<source>/<dataset>/<record>[-<minutes>min]` of every prepared file."""
        return "|".join(re.escape(path[len("data/") : -len(".nc")]) for path in self.prepared_files())

    def source_of(self, dataset: str, source: str, mirror: str | os.PathLike[str] | None = None) -> Source:
        """Return the source that a data set comes from in an experiment that names one for all.

        That is the named one where it brings the data set, else, where the data set came with the project, `shipped`;
        an experiment on shipped data takes stand-ins of what is not shipped.
        """
        _known_source(source)
        offered = (each for each in _SERVED_BY[source] if self.available_records(dataset, each, mirror))
        return cast(Source, next(offered, source))

    def available_records(self, dataset: str, source: str, mirror: str | os.PathLike[str] | None = None) -> list[str]:
        """Records that a source can bring, the preferred one first; of a mirror, those whose files all exist."""
        _known_source(source)
        records = self.dataset(dataset).records
        return [
            name
            for name, record in records.items()
            if source in record.sources
            and (source != "mirror" or (mirror and not self._missing(dataset, name, Path(mirror))))
        ]

    def check(self, dataset: str, record: str, source: str, mirror: str | os.PathLike[str] | None = None) -> None:
        """Refuse a record that the source cannot bring; looks at the existence of files and opens none.

        Raises:
            BocuError: the source does not offer the record, the mirror folder is not set or missing, or a file is
                missing in it.
        """
        self._offered(dataset, record, source)
        if source != "mirror":
            return
        if not mirror:
            raise BocuError("data.mirror: not set; 'data: {source: mirror}' needs the folder that holds the files")
        if not Path(mirror).is_dir():
            raise BocuError(f"data.mirror: {mirror} is not a folder; looked for data set '{dataset}' in it")
        missing = self._missing(dataset, record, Path(mirror))
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise BocuError(
                f"data.mirror: {missing[0]}: no such file{more}; needed for data set '{dataset}', record '{record}'"
            )

    def known(self, dataset: str, file: str) -> dict[str, Any]:
        """Address, SHA-256 and size of a raw file, None where not known, as plain data."""
        return self.file(dataset, file).model_dump(include={"url", "sha256", "bytes"})

    def tables(self) -> dict[str, tuple[str, str, Computed]]:
        """Return the tables that simulators compute anew: data set, record and how, by the table's path."""
        return {
            f"data/compute/{dataset}/{name}.nc": (dataset, name, record.computed)
            for dataset, entry in self.datasets.items()
            for name, record in entry.records.items()
            if record.computed is not None
        }

    def table_parts(self, dataset: str, record: str) -> list[str]:
        """Return the parts of a table, in their order."""
        _, _, computed = _get(self.tables(), f"data/compute/{dataset}/{record}.nc", "computed table")
        return [f"data/compute/{dataset}/parts/{record}-{part}.nc" for part in range(computed.parts)]

    def hashes(self, dataset: str, record: str, source: str) -> dict[str, str | None]:
        """SHA-256 of the raw files of a record, None where not known, by name."""
        return {file.name: file.sha256 for file in self._offered(dataset, record, source).files_of(source)}

    def patterns(self, source: str) -> dict[str, str]:
        """Regular expressions for the names of the data sets and of the raw files that a source can bring."""
        files = {dataset: self.file_names(dataset, source) for dataset in self.datasets}
        names = {re.escape(name) for found in files.values() for name in found}
        return {"dataset": "|".join(name for name in files if files[name]), "file": "|".join(sorted(names))}

    def origin(self, dataset: str, record: str, source: str) -> dict[str, str]:
        """What a prepared file says of where it comes from, as plain strings."""
        entry, form = self.dataset(dataset), self._offered(dataset, record, source)
        return {
            "dataset": dataset,
            "record": record,
            "source": source,
            "title": f"Simulated stand-in for: {entry.title}" if source == "simulate" else entry.title,
            "homepage": entry.homepage,
            "licence": entry.licence,
            "citation": entry.citation,
            "description": form.description,
        }

    def _offered(self, dataset: str, record: str, source: str) -> RawForm:
        _known_source(source)
        entry = self.record(dataset, record)
        if source not in entry.sources:
            others = " or ".join(entry.sources)
            raise BocuError(
                f"data.source: '{source}' does not offer data set '{dataset}', record '{record}'; allowed: {others}"
            )
        return entry

    def _missing(self, dataset: str, record: str, mirror: Path) -> list[Path]:
        paths = [mirror / dataset / file.name for file in self.record(dataset, record).files_of("mirror")]
        return [path for path in paths if not path.is_file()]


def sources_file() -> Path:
    """Return the catalogue at hand: that of the working folder, else the one that came with the package."""
    here = Path("data/sources.yaml")
    return here if here.is_file() else Path(__file__).with_name("sources.yaml")


def load_catalogue(path: str | os.PathLike[str]) -> Catalogue:
    """Read `data/sources.yaml`.

    Raises:
        BocuError: the file is missing, is not YAML, or has an unknown key or a value of the wrong kind; one line that
            names file, key, what was found and what is allowed.
    """
    where = f"{path}: "
    catalogue = validate(Catalogue, cast("dict[str, Any]", read_yaml(Path(path))), where)
    for name, entry in catalogue.datasets.items():
        _consistent(entry, f"{where}datasets.{name}.records")
    return catalogue


def _consistent(entry: Dataset, where: str) -> None:
    seen: dict[str, RawFile] = {}
    for label, record in entry.records.items():
        for file in record.files:
            if seen.setdefault(file.name, file) != file:
                raise BocuError(f"{where}.{label}: file '{file.name}' is described elsewhere otherwise; allowed: once")
        for file in record.files_of("download") if "download" in record.sources else []:
            if file.url is None:
                raise BocuError(f"{where}.{label}: file '{file.name}' has no url; a record for download needs one")


def _known_source(source: str) -> None:
    if source not in SOURCES:
        raise BocuError(f"data.source: found '{source}'; allowed: {', '.join(SOURCES)}")


def _get(mapping: Mapping[str, object], key: str, what: str) -> Any:
    if key not in mapping:
        raise BocuError(f"no {what} is called '{key}'; {nearest(key, mapping)}")
    return mapping[key]
