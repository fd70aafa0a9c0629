"""Verdicts as flat records, for files and tables."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from bocu.core.errors import BrokenFileError
from bocu.core.io.files import canonical_json, read_text, write_json
from bocu.core.io.lineage import LINEAGE, lineage_of
from bocu.sweep.evaluation.claims.model import Claim
from bocu.sweep.evaluation.claims.verdicts import Finding, Verdict, verdicts

CLAIM_COLUMNS = (
    "file", "id", "paper", "where", "statement", "experiment", "problem", "metric", "figure", "family", "check", "ours",
    "note", "verdict", "reason", "p_value", "p_value_holm", "corrected", "seeds", "seeds_wanted", "hours_wanted",
    "thresholds", "p_by_blocks",
)  # fmt: skip
COMPARISON_COLUMNS = (
    "file", "id", "comparison", "problem", "metric", "objective", "seeds", "value", "low", "high", "boundary",
    "p_for", "p_against",
)  # fmt: skip
"""Columns of a record of a claim, and of one of its comparisons."""
_ASKED = ("check", "problem", "metric", "blocks", "family", "not_comparable", "stand_in")


def write_verdicts(
    stated: Sequence[Mapping[str, Any]], experiment: str, cubes: Sequence[str | Path], output: str | Path
) -> None:
    """Judge claims by the cubes of an experiment, and write what was found.

    Args:
        stated: the claims as plain data, each with its file.
        experiment: its name; claims of another are not run.
        cubes: cubes of the problems that claims are about, each named by its problem.
        output: JSON: a record a claim, with its comparisons.
    """
    claims = [Claim.model_validate({key: one[key] for key in one if key != "file"}) for one in stated]
    files = {Path(cube).stem: cube for cube in cubes}
    found = verdicts(claims, lambda name, problem: files.get(problem) if name == experiment else None)
    lineage = lineage_of(output)
    records = [
        record(str(one["file"]), claim, judged) for one, claim, judged in zip(stated, claims, found, strict=True)
    ]
    write_json(output, {"claims": records, **({} if lineage is None else {LINEAGE: asdict(lineage)})})


def checks_of(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the hash of what a verdict hangs on beside the numbers, by file and identifier, of records of claims."""
    asked = ({key: one[key] for key in _ASKED} for one in records)
    hashes = [sha256(canonical_json(each).encode()).hexdigest()[:16] for each in asked]
    return {f"{one['file']}: {one['id']}": found for one, found in zip(records, hashes, strict=True)}


def read_verdicts(path: str | Path) -> list[dict[str, Any]]:
    """Return the records of `write_verdicts`.

    Raises:
        BrokenFileError: the file is none of its making.
    """
    try:
        found: list[dict[str, Any]] = json.loads(read_text(path))["claims"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BrokenFileError(path, f"no verdicts on claims ({error})") from None
    return found


def record(file: str, claim: Claim, found: Verdict) -> dict[str, Any]:
    """Return a claim with its verdict, and with its comparisons under that key, as plain data."""
    return {
        "file": file,
        **claim.model_dump(mode="json"),
        "family": claim.corrected_with,
        "verdict": found.outcome,
        "reason": found.reason,
        "p_value": _number(found.raw_p_value),
        "p_value_holm": _number(found.p_value),
        "corrected": found.corrected,
        "seeds": found.seeds,
        "seeds_wanted": found.seeds_wanted,
        "hours_wanted": _number(found.hours_wanted),
        "thresholds": None if found.thresholds is None else list(found.thresholds),
        "p_by_blocks": {str(length): list(p_values) for length, p_values in found.blocks.items()} or None,
        "comparisons": [_compared(file, claim, finding) for finding in found.findings],
    }


def _compared(file: str, claim: Claim, finding: Finding) -> dict[str, Any]:
    return {
        "file": file,
        "id": claim.id,
        "comparison": finding.comparison,
        **asdict(finding.where),
        "seeds": finding.value.count,
        **{end: _number(getattr(finding.value, end)) for end in ("value", "low", "high")},
        "boundary": finding.boundary,
        "p_for": _number(finding.for_it),
        "p_against": _number(finding.against_it),
    }


def _number(value: float) -> float | None:
    """Return a number as JSON has it; None for what is none."""
    return float(value) if isfinite(value) else None
