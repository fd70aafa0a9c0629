"""Why a file is stale, as text: its own reasons, and the stale inputs that it was made from."""

from collections.abc import Iterator
from dataclasses import dataclass

MANY = 10  # things of a kind that are shown


@dataclass(frozen=True)
class Explanation:
    """Why a file is stale.

    Attributes:
        reasons: what is wrong with the file itself.
        causes: stale inputs, those with the same explanation together.
    """

    reasons: tuple[str, ...] = ()
    causes: tuple[tuple[tuple[str, ...], "Explanation"], ...] = ()

    @property
    def is_stale(self) -> bool:
        """Whether anything is to be made again."""
        return bool(self.reasons or self.causes)

    def lines(self) -> Iterator[str]:
        """Return the explanation as text, causes indented below what they make stale; each is told once."""
        return self._lines("  ", set())

    def _lines(self, indent: str, told: set[str]) -> Iterator[str]:
        for reason in self.reasons:
            yield f"{indent}{reason}"
        for files, explanation in self.causes[:MANY]:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            if files[0] in told:
                yield f"{indent}because of {files[0]}{more}: see above"
                continue
            told.add(files[0])
            yield f"{indent}because of {files[0]}{more}:"
            yield from explanation._lines(f"{indent}  ", told)
        if len(self.causes) > MANY:
            yield f"{indent}because of {sum(len(files) for files, _ in self.causes[MANY:])} other inputs"


UP_TO_DATE = Explanation()
MISSING = Explanation(("not made yet",))
