"""Parameters of problems that a prepared data set stands behind."""

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from bocu.core.errors import BocuError
from bocu.problems.base import ProblemParameters

if TYPE_CHECKING:
    from bocu.data.catalogue import Catalogue
    from bocu.experiment.branches import ProblemPaths


class PreparedDataParameters(ProblemParameters):
    """Which data set, and where it comes from; its prepared file is the input "data"."""

    dataset: ClassVar[str]
    record: ClassVar[str]

    source: Literal["download", "mirror", "simulate"] | None = Field(
        None, description="where the data come from; set by the plan from data.source"
    )

    def resolve(self, catalogue: "Catalogue", source: str, mirror: str | None) -> Self:
        """Settle the source.

        Raises:
            BocuError: the source does not bring the data, or `source` is set to another one.
        """
        if self.source not in (None, source):
            raise BocuError(f"source: found '{self.source}'; data.source is '{source}': leave this key out")
        catalogue.check(self.dataset, self.record, source, mirror)
        return self.model_copy(update={"source": source})

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        if self.source is None:
            raise BocuError("source: found null; allowed: download, mirror, simulate")
        return {**super().inputs(paths), "data": paths.catalogue.prepared_path(self.dataset, self.record, self.source)}
