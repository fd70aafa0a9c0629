"""Parameters of problems that a prepared data set stands behind."""

from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from bocu.core.errors import BocuError
from bocu.problems.base import ProblemParameters
from bocu.problems.data.catalogue import SOURCES, Source

if TYPE_CHECKING:
    from bocu.problems.data.catalogue import Catalogue
    from bocu.sweep.experiment.branches import ProblemPaths


UNSETTLED = f"source: found null; allowed: {', '.join(SOURCES)}"


def settled_source(stated: str | None, dataset: str, catalogue: "Catalogue", source: str, mirror: str | None) -> Source:
    """Return the source of a data set in an experiment.

    Args:
        stated: the problem's own key; None before it is settled.
        dataset: the data set.
        catalogue: of all data sets.
        source: of the experiment, `data.source`.
        mirror: its folder, where there is one.

    Raises:
        BocuError: the key is set to another source.
    """
    settled = catalogue.source_of(dataset, source, mirror)
    if stated not in (None, settled):
        raise BocuError(f"source: found '{stated}'; data.source is '{source}': leave this key out")
    return settled


class PreparedDataParameters(ProblemParameters):
    """Which data set, and where it comes from; its prepared file is the input "data"."""

    dataset: ClassVar[str]
    record: ClassVar[str]
    copy_of_data: ClassVar[str | None] = "source"

    source: Source | None = Field(None, description="where the data come from; set by the plan from data.source")

    def resolve(self, catalogue: "Catalogue", source: str, mirror: str | None) -> Self:
        """Settle the source.

        Raises:
            BocuError: the source does not bring the data, or `source` is set to another one.
        """
        source = settled_source(self.source, self.dataset, catalogue, source, mirror)
        catalogue.check(self.dataset, self.record, source, mirror)
        return self.model_copy(update={"source": source})

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        if self.source is None:
            raise BocuError(UNSETTLED)
        return {**super().inputs(paths), "data": paths.catalogue.prepared_path(self.dataset, self.record, self.source)}
