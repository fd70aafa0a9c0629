"""The experiment file as a typed model: what a user may write, key by key.

The JSON schema under `workflow/schemas/` is generated from it (`bocu schema`).
"""

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import pydantic
from pydantic import BeforeValidator, Field

from bocu.core.errors import BocuError, shown
from bocu.core.io.yaml_files import read_yaml
from bocu.core.parameters import LARGEST_SEED, Integer, Number, Parameters, validate
from bocu.core.plain import Plain
from bocu.problems.data.catalogue import Source
from bocu.sweep.experiment.sweep_axes import Axis, in_full

LABEL = r"^[a-z0-9]+(-[a-z0-9]+)*$"
LONGEST_LABEL = 64  # temporary files carry it beside the names of host and process, in at most 255 letters
MOST_SEEDS = 100_000
MOST_ITERATIONS = 1_000_000
MOST_THREADS = 1024


def _label(value: object) -> object:
    if isinstance(value, str) and not (re.fullmatch(LABEL, value) and len(value) <= LONGEST_LABEL):
        raise ValueError(f"allowed: up to {LONGEST_LABEL} lower-case letters and digits, with single hyphens between")
    return value


Label = Annotated[str, BeforeValidator(_label), Field(pattern=LABEL, max_length=LONGEST_LABEL)]


def default_label(name: str) -> str:
    """Return the label of what is named so: the name, or "my-own" for the class MyOwn, wherever it stands."""
    if ":" not in name:
        return name
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name.rpartition(":")[2])
    return "-".join(parts).lower()


class Entry(Parameters):
    """A registered thing with its parameters, under a label of the user's own."""

    label: Label = Field(description="Name in paths, cubes and figures; unique in its list; the name by itself.")
    name: str = Field(
        description="Registered name or entry point (see `bocu list`), `module:Class`, or `path/to/file.py:Class`, "
        "relative to this file."
    )
    parameters: Plain = Field(default_factory=dict, description="Parameters that differ from the defaults.")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _expand(cls, data: object) -> object:
        if isinstance(data, str):
            data = {"name": data}
        if isinstance(data, Mapping) and "label" not in data:
            name = data.get("name")
            # Of a name that is none, or that is missing, the fault is told, and not that no label follows from it.
            label = default_label(name) if isinstance(name, str) else "nameless"
            try:
                data = {**data, "label": _label(label)}
            except ValueError:
                raise ValueError(
                    f"name: found {shown(name)}; it makes no label; give one under the key 'label'"
                ) from None
        return data


class TitledEntry(Entry):
    """An entry that figures and tables write a title for."""

    title: str = Field(
        "", description="What figures and tables write for it; what its class tells of itself, if left out."
    )


class ProblemEntry(Entry):
    """A problem: protocol, contexts, reference and data are its parameters."""

    @pydantic.field_validator("label")
    @classmethod
    def _not_taken(cls, label: str) -> str:
        if label in ("summary", "all"):
            raise ValueError("the files of the whole experiment have this name; give another label")
        return label


class PriorEntry(Entry):
    """Candidate priors of problems: one that is written out, or some that are fitted to data."""

    problems: list[Label] | None = Field(
        None, description="Labels of the problems whose candidates they are; all that can have them, if left out."
    )


class ObjectiveEntry(TitledEntry):
    """An uncertainty objective: set, radius and slope are its parameters."""

    problems: list[Label] | None = Field(
        None, description="Labels of the problems that it is pursued on; all, if left out."
    )

    @pydantic.field_validator("label")
    @classmethod
    def _not_taken(cls, label: str) -> str:
        if label == "any":
            raise ValueError("runs of algorithms that pursue no objective have this label; give another one")
        return label


class MetricEntry(TitledEntry):
    """An objective that runs are scored by."""

    problems: list[Label] | None = Field(None, description="Labels of the problems it scores; all, if left out.")
    under: str | Plain | list[str | Plain] | None = Field(
        None,
        description="Another law to score the same runs under: a law, `{name, parameters}` or a name alone; a path of "
        "laws, `{from: LAW, to: LAW, steps: 5, until: 1}`, where `from` is the reference if left out; or a list of "
        "laws. Paths and lists make as many metrics, the label followed by `-0`, `-1`, ...",
    )
    deployed: Literal["own", "shared-model"] | None = Field(
        None,
        description="Score what is deployed after the last round alone, in place of every decision taken: `own`, what "
        "the algorithm recommends; `shared-model`, of the decisions it tried the one of the best expectation by a "
        "Gaussian process of decisions and contexts, the same for all algorithms.",
    )


class AlgorithmEntry(TitledEntry):
    """An algorithm, and where it is to run."""

    problems: list[Label] | None = Field(
        None, description="Labels of the problems it runs on; all that it can, if left out."
    )
    objectives: list[Label] | None = Field(
        None, description="Labels of the objectives it pursues; all that it can, if left out."
    )


class FigureEntry(Entry):
    """A figure, drawn for each problem or once for all."""

    problems: list[Label] | None = Field(
        None, description="Labels of the problems it is drawn for; all it can, if left out."
    )


class Margin(Parameters):
    """Extra regret up to which an algorithm leads with the least of a table: the larger of two shares."""

    least: Number = Field(0.25, ge=0, le=10, description="Share of the least mean regret.")
    random: Number = Field(
        0.02, ge=0, le=10, description="Share of the mean regret of random decisions, where they run too."
    )


class Seeds(Parameters):
    """Which seeds run, and how many share a job."""

    first: Integer = Field(0, ge=0, le=LARGEST_SEED, description="First seed.")
    count: Integer = Field(..., ge=1, le=MOST_SEEDS, description="Number of seeds.")
    per_job: Annotated[Integer, Field(ge=1, le=MOST_SEEDS)] | Literal["auto"] = Field(
        10,
        description="Seeds in one job; blocks start at `first`. `auto`: by the forecast, so that a job takes a minute; "
        "settled for each branch by the first run, and kept.",
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _count_alone(cls, data: object) -> object:
        return {"count": data} if isinstance(data, int | str) else data

    @pydantic.model_validator(mode="after")
    def _last_is_an_integer_too(self) -> Self:
        if self.first + self.count - 1 > LARGEST_SEED:
            raise ValueError(f"the last seed, first + count - 1, is allowed up to {LARGEST_SEED}")
        return self

    def blocks(self, per_job: int) -> list[tuple[int, int]]:
        """Return the first and last seed of blocks of `per_job` seeds; the last may be shorter than the others."""
        end = self.first + self.count
        return [(start, min(start + per_job, end) - 1) for start in range(self.first, end, per_job)]


class Data(Parameters):
    """Where data sets come from."""

    source: Source = Field(
        "download",
        description="Their own pages, a local folder with the same files, what came with the project (and labelled "
        "stand-ins of the rest), or stand-ins.",
    )
    mirror: str | None = Field(None, description="Folder of the mirror, for source `mirror`.")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _source_alone(cls, data: object) -> object:
        return {"source": data} if isinstance(data, str) else data

    @pydantic.model_validator(mode="after")
    def _mirror_needs_folder(self) -> "Data":
        if (self.source == "mirror") != (self.mirror is not None):
            raise ValueError("source 'mirror' and the key 'mirror' (its folder) go together")
        return self


class Experiment(Parameters):
    """A whole experiment: problems x objectives x algorithms x seeds, and what is drawn of it."""

    name: Label = Field(description="Folder under `results/`.")
    title: str = Field("", description="Title of the report.")
    description: str = Field("", description="What the experiment is for; stands with the report's configuration.")
    papers: list[str] = Field(default_factory=list, description="Papers to cite, such as `ziomek2025`.")
    data: Data = Field(Data(), description="Where data sets come from; a source alone is its name.")
    mirror: str | None = Field(None, description="Short for `data: {source: mirror, mirror: FOLDER}`.")
    seeds: Seeds = Field(description="Which seeds run; a number alone is their count.")
    iterations: Integer = Field(
        ge=1,
        le=MOST_ITERATIONS,
        description="Rounds after the initial design; a problem that ends sooner, ends sooner.",
    )
    threads: Integer = Field(
        1, ge=1, le=MOST_THREADS, description="Numeric threads of a run; results depend on them in the last bits."
    )
    problems: list[ProblemEntry] = Field(min_length=1, description="The problems.")
    priors: list[PriorEntry] = Field(
        default_factory=list, description="Candidate priors of problems on a grid, for algorithms that know of several."
    )
    objectives: list[ObjectiveEntry] = Field(default_factory=list, description="Objectives that algorithms pursue.")
    algorithms: list[AlgorithmEntry] = Field(min_length=1, description="The algorithms.")
    metrics: list[MetricEntry] = Field(
        default_factory=lambda: [MetricEntry(label="so", name="so")],
        min_length=1,
        description="Objectives that runs are scored by.",
    )
    sweep: list[dict[Label, Axis]] = Field(
        default_factory=list,
        description="Parameters and their values, `{problems.hills.noise: [0.05, 0.1]}`: a grid of all combinations, "
        "or a list of grids. Each entry that they set becomes one entry a point, labelled `hills-noise-0p05`, ...; "
        "where its own label is named, all of these are meant.",
    )
    figures: list[FigureEntry] | None = Field(
        None, description="Figures; all that the problems allow and that are drawn unasked, if left out."
    )
    reference: Label | None = Field(
        None,
        description="Label of the algorithm that all others are compared with, such as one's own; if left out, each "
        "table takes its best, and figures that divide by one take `random`.",
    )
    leads_within: Margin = Field(
        default_factory=lambda: Margin(),
        description="Extra regret in the mean up to which an algorithm leads with the least of a table, "
        "`{least: SHARE, random: SHARE}`: the larger of a share of the least mean regret and one of random decisions'.",
    )
    claims: list[str] = Field(
        default_factory=list,
        description="Claims files, relative to this file: what is said of this experiment, which the report checks.",
    )
    compare: Literal["archive"] | None = Field(
        None,
        description="`archive`: the report shows the results beside every method that the published ones in "
        "`docs/results` have of the same problems, metrics and seeds; none of these is run.",
    )
    code: Literal["rerun", "accept"] = Field(
        "rerun",
        description="What becomes of finished runs when code that they reach has changed: `rerun`; or `accept`, which "
        "first plays some of their rounds anew, and keeps those that come out alike, bit for bit (see `bocu accept`).",
    )
    overwrite: bool = Field(False, description="Allow fewer seeds or iterations than the results of this name hold.")
    checkpoint_seconds: Number = Field(
        20.0, ge=0, le=1e6, description="Seconds between two checkpoints of a run; changes no result."
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _mirror_alone(cls, data: object) -> object:
        if isinstance(data, Mapping) and data.get("mirror") is not None:
            given = data.get("data") or {}
            given = {"source": given} if isinstance(given, str) else given
            if not isinstance(given, Mapping):
                return data  # refused as what it is
            data = {**data, "data": {**given, "source": "mirror", "mirror": data["mirror"]}}
        return data

    @pydantic.field_validator("sweep", mode="before")
    @classmethod
    def _sweep_in_full(cls, sweep: object) -> object:
        return in_full(sweep)

    @pydantic.model_validator(mode="after")
    def _labels_are_unique_and_known(self) -> "Experiment":
        for kind in ("problems", "priors", "objectives", "algorithms", "metrics", "figures"):
            labels = [entry.label for entry in getattr(self, kind) or []]
            for position, label in enumerate(labels):
                if label in labels[:position]:
                    raise ValueError(f"{kind}: the label '{label}' stands twice; every entry needs a label of its own")
        return self


def read_experiment_file(path: str | Path) -> dict[str, object]:
    """Read an experiment file as plain data.

    Raises:
        BocuError: the file is missing or not readable, is no YAML, is no mapping, or a key stands in it twice.
    """
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise BocuError(f"{path}: found {shown(data)}; an experiment is a mapping of keys to values")
    return data


def parse_experiment(
    config: Mapping[str, object], files: Sequence[str | Path] = (), overrides: Mapping[str, object] | None = None
) -> Experiment:
    """Check a whole configuration.

    Args:
        config: the merged configuration.
        files: the files it was merged from, in their order; named in error lines.
        overrides: what the command line added; named in error lines.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    try:
        return validate(Experiment, config, "")
    except BocuError as error:
        key = str(error).partition(":")[0].partition(".")[0].strip()
        raise BocuError(f"{origin(key, files, overrides)}: {error}") from None


def origin(key: str, files: Sequence[str | Path], overrides: Mapping[str, object] | None = None) -> str:
    """Say where a top-level key was written last: the command line, or the last file that has it."""
    if overrides and key in overrides:
        return "--config"
    there = [file for file in files if Path(file).is_file()]
    for file in reversed(there):
        if key in top_level_keys(file):
            return str(file)
    return str(there[-1]) if there else "configuration"


def folder_of(key: str, files: Sequence[str | Path], overrides: Mapping[str, object] | None = None) -> Path:
    """Return what paths under a top-level key are relative to: its file's folder, or the working folder."""
    file = Path(origin(key, files, overrides))
    return file.parent if file.is_file() else Path()


def top_level_keys(file: str | Path) -> frozenset[str]:
    """Return the keys of a file that is read strictly: of one that stands twice Snakemake would take the last.

    Raises:
        BocuError: see `read_experiment_file`.
    """
    return _keys_as_of(file, Path(file).stat().st_mtime_ns)


@functools.cache
def _keys_as_of(file: str | Path, changed: int) -> frozenset[str]:
    return frozenset(read_experiment_file(file))
