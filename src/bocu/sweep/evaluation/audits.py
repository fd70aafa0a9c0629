"""What an audit of an experiment's worst cases found, and its file: `bocu audit` writes it, the report shows it."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bocu.core.errors import BrokenFileError
from bocu.core.io.files import read_text, write_json
from bocu.core.plain import Plain


@dataclass
class Audit:
    """What was found when worst cases were solved again, by a solver that shares no line with the first.

    Errors and gaps are in ranges of the payoffs of their row.
    """

    experiment: str  #: its name.
    tolerance: float  #: errors beyond it, and beyond the other solver's own gap, are faults.
    seed: int  #: of the draw.
    solver: str  #: the other solver, with its version.
    cases: int = 0  #: number of worst cases that were solved again.
    stored: int = 0  #: of these, how many were compared with the value in a score file.
    largest: float = 0.0  #: the largest error; 0 where there is no case.
    largest_gap: float = 0.0  #: the other solver's largest gap between primal and dual.
    worst: str = ""  #: where the largest error was.
    #: problem, kind, set, cases and largest error of those that belong together.
    groups: list[Plain] = field(default_factory=list)
    #: number of cases that could not be solved again, by the reason.
    left_out: dict[str, int] = field(default_factory=dict)
    beyond_count: int = 0  #: number of faults.
    beyond: list[str] = field(default_factory=list)  #: the first few of them.

    @property
    def passed(self) -> bool:
        """Whether there is no fault."""
        return not self.beyond_count

    @property
    def told(self) -> str:
        """What was found, in one line."""
        if not self.cases:
            return "no worst case was solved again: none was met or scored, or none could be"
        recomputed = f"{self.cases:,} worst case{'s' if self.cases > 1 else ''} recomputed by an independent solver"
        faults = "" if self.passed else f"; {self.beyond_count:,} beyond the tolerance of {self.tolerance:g}"
        return f"{recomputed}: largest error {self.largest:.0e} of the payoffs' range{faults}"

    def write(self, path: str | Path) -> None:
        """Write it as JSON."""
        write_json(path, asdict(self), recorded=True)


def read_audit(path: str | Path) -> Audit:
    """Read what an audit found.

    Raises:
        BrokenFileError: the file is not what an audit writes.
    """
    try:
        return Audit(**json.loads(read_text(path)))
    except (OSError, ValueError, TypeError) as error:
        raise BrokenFileError(path, f"not what `bocu audit` writes ({error}); delete it, or audit again") from None
