"""What people read in place of the labels of objectives and metrics: "DRO (MMD, radius 0.1)" for `mmd-narrow`.

A title says the class and the ambiguity set. Where that is one title for several labels, what the experiment's file
states differently of them follows; a title that the file gives stands in place of class and set.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bocu.core.parameters import sections
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.sweep.experiment.branches import NO_OBJECTIVE, Component

_NUMBER = re.compile(r"m?\d+(p\d+)?(em?\d+)?")
"""A part of a label that stands for a number, as sweeps write them: 0.1 as 0p1, -1 as m1."""
_INSIDE = ("parameters", "law", "to", "set")
"""Keys that are left out of what tells titles apart: what lies in them speaks for itself."""

Told = tuple[str, tuple[str, ...], Mapping[str, Any]]
"""Title of a class or of the file, what follows it in brackets, and what is stated, by keys in words."""


def titles(objectives: Sequence[Component], metrics: Sequence[Component]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the titles of objectives and of metrics, by label; within each of the two no title stands twice.

    Objective and metric of one label have one title, unless they are of other classes or sets.
    """
    kinds = [{component.label: _told(component) for component in kind} for kind in (objectives, metrics)]
    told_apart = [{label: _apart(told, label, kinds) for label, told in kind.items()} for kind in kinds]
    found = [{label: _unique(label, kind) for label in kind} for kind in told_apart]
    return {NO_OBJECTIVE: "no objective", **found[0]}, found[1]


def in_words(label: str) -> str:
    """Write a label as words, and numbers in it as numbers: `ucb-beta-0p5` as "ucb beta 0.5"."""
    return " ".join(
        part.replace("m", "-").replace("p", ".") if _NUMBER.fullmatch(part) else part for part in label.split("-")
    )


def value_in_words(value: float | str) -> str:
    """Write a value of a swept parameter, as cubes have it."""
    return in_words(value) if isinstance(value, str) else f"{value:.4g}"


def _told(component: Component) -> Told:
    law = component.under or {}
    title = component.title or component.kind.about.title
    if law and not component.title:
        title += f" under {_law_name(law)}"
    if component.deployed and not component.title:
        title += " of what is deployed" if component.deployed == "own" else " of what one model would deploy"
    sets = (
        []
        if component.title
        else [_set_title(part) for _, part in sections(component.parameters) if isinstance(part, SetParameters)]
    )
    stated = {**component.parameters.model_dump(mode="json", exclude_unset=True), **law}
    return title, tuple(sets), dict(_leaves(stated))


def _set_title(part: Any) -> str:
    about = getattr(part.family, "about", None)
    return about.title if about else str(part.name)


def _law_name(law: Mapping[str, Any]) -> str:
    end = law["to"]
    return f"the {end}" if isinstance(end, str) else str(end["law"]["name"]).rpartition(":")[2].replace("-", " ")


def _leaves(stated: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for key, value in stated.items():
        own = path if key in _INSIDE else (*path, key)
        if isinstance(value, Mapping):
            yield from _leaves(value, own)
        elif key != "name":
            yield " ".join(own).replace("_", " "), value


def _apart(own: Told, label: str, kinds: Sequence[Mapping[str, Told]]) -> str:
    """Write a title with what tells it from those that begin like it, in either kind."""
    title, sets, stated = own
    differing: dict[str, None] = {}
    for kind in kinds:
        alike = [found for found in kind.values() if found[:2] == (title, sets)]
        for key in dict.fromkeys(key for found in alike for key in found[2]):
            if len({str(found[2].get(key)) for found in alike}) > 1:
                differing[key] = None
    details = [_detail(key, stated[key]) for key in differing if key in stated]
    return f"{title} ({', '.join((*sets, *details))})" if sets or details else title


def _detail(key: str, value: Any) -> str:
    """Write what is stated under a key; of what the problem announces, the share."""
    announced = key.removesuffix(" announced")
    return f"{key} {_written(value)}" if announced == key else f"{_written(value)} of the announced {announced}"


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_written, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _unique(label: str, found: Mapping[str, str]) -> str:
    title = found[label]
    return title if list(found.values()).count(title) == 1 else f"{title}, {in_words(label)}"
