"""The claims file as a typed model: what a user may write, key by key.

The JSON schema under `workflow/schemas/` is generated from it (`bocu schema --claims`).
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from string import Formatter
from typing import Annotated

import pydantic
from pydantic import Field

from bocu.core.errors import BocuError, faults_at, shown
from bocu.core.io.yaml_files import read_yaml
from bocu.core.parameters import Parameters, nearest, validate
from bocu.sweep.evaluation.claims.expressions import (
    BY_ROUND,
    Leaf,
    Node,
    Ratio,
    Scope,
    beside_one,
    leaves,
    problems_of,
)
from bocu.sweep.evaluation.claims.parsing import parse
from bocu.sweep.experiment.configuration import Label
from bocu.sweep.experiment.papers import known_papers

_HANDED_DOWN = ("paper", "experiment", "family")
BY_HOW_MUCH = ("less", "more")  #: Words in braces of a sentence that say by how many per cent a ratio is off 1.
EACH = "each"
"""The word in braces that says of each algorithm on how many problems its ratio is less, and more, than 1."""


class Claim(Parameters):
    """What somebody says of an experiment, and how the numbers can tell."""

    id: Label = Field(description="Name of the claim; unique in its file.")
    paper: str = Field(
        "", description="Key of the paper that makes it, such as `ziomek2025`; empty: nobody's but yours."
    )
    where: str = Field("", description="Section, figure or table.")
    statement: str = Field(min_length=1, description="What is claimed, in your own words.")
    experiment: Label = Field(description="Name of the experiment whose results it is checked on.")
    problem: Label | None = Field(
        None, description="Label of the problem; left out where the check goes through several."
    )
    metric: Label | None = Field(
        None, description="Label of the metric; if left out, that of the objective's label, else the problem's first."
    )
    figure: Label | None = Field(None, description="Label of the figure beside which the report shows it.")
    family: str | None = Field(
        None,
        description="Name of the claims that are corrected together, by Holm; if left out, the paper, and of no paper "
        "all together.",
    )
    check: str | None = Field(
        None, description="What has to hold of the numbers (see docs/claims.md); null: nothing in a cube can tell."
    )
    sentence: str = Field(
        "",
        description="What the report opens with where the claim holds. Of a check that is one comparison, `{value}` "
        "becomes its number with the interval; of one ratio, `{less}` and `{more}` by how many per cent of it. With "
        "`{each}`, of a check of ratios to one and the same algorithm, the report opens with it whatever came out: of "
        "each algorithm on how many problems it has less and more, and a line a problem.",
    )
    not_comparable: str = Field(
        "",
        description="Why our runs cannot tell; its numbers are shown, and no verdict, nor does it count in its family.",
    )
    blocks: list[Annotated[int, Field(ge=1)]] = Field(
        [],
        description="Judge over rounds in place of seeds, by moving blocks of so many rounds, the first; what other "
        "lengths say stands beside it. Of sums over rounds of one problem: `final`, `mean`, `at`, `payoff`.",
    )
    stand_in: str = Field(
        "", description="What it is judged on in place of the paper's data; likewise without a verdict on the paper."
    )
    ours: str = Field("", description="Settings that the paper leaves open and that are ours.")
    note: str = Field("", description="What else a reader should know.")

    @property
    def corrected_with(self) -> str:
        """Name of its family."""
        return self.family or self.paper or "ours"

    @functools.cached_property
    def node(self) -> Node:
        """Its check, spelt out; there has to be one."""
        return parse(self.check or "", Scope(self.problem or "", self.metric or ""))


class ClaimsFile(Parameters):
    """Claims, and what they have in common."""

    paper: str = Field("", description="Paper of every claim that names none.")
    experiment: Label | None = Field(None, description="Experiment of every claim that names none.")
    family: str | None = Field(None, description="Family of every claim that names none.")
    claims: list[Claim] = Field(min_length=1, description="The claims.")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _hand_down(cls, data: object) -> object:
        if not isinstance(data, Mapping) or not isinstance(data.get("claims"), list):
            return data
        shared = {key: data[key] for key in _HANDED_DOWN if data.get(key)}
        return {**data, "claims": [{**shared, **one} if isinstance(one, Mapping) else one for one in data["claims"]]}

    def claim(self, name: str) -> Claim:
        """Return the claim of an id.

        Raises:
            BocuError: there is none.
        """
        found = {claim.id: claim for claim in self.claims}
        if name not in found:
            raise BocuError(f"no claim '{name}'; {nearest(name, found)}")
        return found[name]

    def asked_of(self, experiment: str) -> list[Claim]:
        """Return the claims about the file's own experiment, asked of another one that has the same labels.

        What is said to be ours is said of the former's settings, and left out.

        Raises:
            BocuError: the file names no experiment.
        """
        if self.experiment is None:
            raise BocuError(f"claims of {experiment}: the file has no 'experiment' that it stands in for")
        changes = {"experiment": experiment, "ours": ""}
        return [claim.model_copy(update=changes) for claim in self.claims if claim.experiment == self.experiment]


def read_claims(path: str | Path) -> ClaimsFile:
    """Read a claims file.

    Raises:
        BocuError: one line with file, key, what was found and what is allowed.
    """
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise BocuError(f"{path}: found {shown(data)}; a mapping with the key 'claims' is wanted")
    file = validate(ClaimsFile, data, f"{path}: ")
    known: dict[str, int] = {}
    for position, claim in enumerate(file.claims):
        where = f"{path}: claims.{position}"
        if claim.id in known:
            raise BocuError(f"{where}.id: found '{claim.id}', that of claims.{known[claim.id]} too; allowed: once")
        known[claim.id] = position
        if claim.paper and claim.paper not in known_papers():
            raise BocuError(f"{where}.paper: unknown paper '{claim.paper}'; {nearest(claim.paper, known_papers())}")
        with faults_at(f"{where}.check ({claim.id}): "):
            problems = [] if claim.check is None else problems_of(claim.node)
        if "" in problems:
            raise BocuError(
                f"{where}.problem ({claim.id}): this key is required, or 'all(... for problem in [...])' in the check"
            )
        measures = [measure for leaf in leaves(claim.node) for measure in leaf.comparison.measures] if problems else []
        others = sorted({measure.word for measure in measures}.difference(BY_ROUND))
        if claim.blocks and (len(problems) != 1 or others):
            found = ", ".join(problems if len(problems) > 1 else others) or "no check"
            raise BocuError(f"{where}.blocks ({claim.id}): found {found}; allowed: one problem, {', '.join(BY_ROUND)}")
        _check_sentence(claim, f"{where}.sentence ({claim.id}): ")
    return file


def _check_sentence(claim: Claim, where: str) -> None:
    """Refuse words in braces that have no number."""
    try:
        words = [word for _, word, _, _ in Formatter().parse(claim.sentence) if word is not None]
    except ValueError as error:
        raise BocuError(f"{where}found {shown(claim.sentence)}: {error}; allowed: one word in braces") from None
    allowed: tuple[str, ...] = ()
    if claim.check is not None and isinstance(claim.node, Leaf):
        allowed = ("value", *(BY_HOW_MUCH if isinstance(claim.node.comparison.left, Ratio) else ()))
    elif claim.check is not None and beside_one(claim.node):
        allowed = (EACH,)
    for word in words:
        if word not in allowed:
            raise BocuError(
                f"{where}found '{{{word}}}'; allowed with this check: {', '.join(allowed) or 'no word in braces'}"
            )
