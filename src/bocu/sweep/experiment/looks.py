"""How the algorithms of one experiment are written and drawn: no two look alike in any of its figures."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeVar, get_args

from bocu.core.about import About, Colour, Dash, Look
from bocu.core.errors import BocuError
from bocu.core.style import colours_apart
from bocu.sweep.experiment.branches import Component
from bocu.sweep.experiment.configuration import default_label
from bocu.sweep.experiment.sweep_expansion import Sweep
from bocu.sweep.experiment.titles import in_words

PALETTE: tuple[Colour, ...] = get_args(Colour)
COLOURS = PALETTE[:7]  #: Those that classes without a look of their own get; the others are for what would share one.
DASHES: tuple[Dash, ...] = get_args(Dash)
MARKERS = ("o", "s", "D", "^", "v", "P", "X")

Option = TypeVar("Option")  #: A look, or a stroke of figures: a data class with a colour.


@dataclass(frozen=True)
class Named:
    """An algorithm as an experiment names it: its registered name and what its class tells of itself."""

    name: str
    about: About

    def title(self, label: str) -> str:
        """Return what is written for it under a label: the papers' spelling where the label is one of its names.

        What a label adds to a name follows it; other labels are written as words.
        """
        spelt = {self.name: self.about.title, default_label(f":{self.name}"): self.about.title, **self.about.aliases}
        if label in spelt:
            return spelt[label]
        start = max((name for name in spelt if label.startswith(f"{name}-")), key=len, default="")
        words = in_words(label.removeprefix(f"{start}-"))
        return f"{spelt[start]}, {words}" if start else words[:1].upper() + words[1:]


def abouts(algorithms: Mapping[str, Component], sweep: Sweep | None = None) -> dict[str, dict[str, str]]:
    """Return by label what cubes hold of every algorithm for figures and tables: title, look, whether a yardstick.

    The title of one that a sweep has made says its values. No two looks share a colour, as long as there are colours.
    """
    named = {label: Named(found.registered.name, found.kind.about) for label, found in algorithms.items()}
    # What has the look that its class states comes first, and keeps it.
    stated = sorted(algorithm_looks(named).items(), key=lambda item: item[1] != named[item[0]].about.look)
    looks = colours_apart(dict(stated), PALETTE)
    return {
        label: {
            "title": _title(algorithm, label, sweep, algorithms[label].title),
            "look": str(looks[label]),
            "yardstick": "yes" if algorithm.about.yardstick else "no",
        }
        for label, algorithm in named.items()
    }


def _title(algorithm: Named, label: str, sweep: Sweep | None, given: str) -> str:
    if sweep is None:
        return given or algorithm.title(label)
    base = given or algorithm.title(sweep.base("algorithms", label))
    return ", ".join([base, *sweep.written("algorithms", label)])


def algorithm_looks(algorithms: Mapping[str, Named]) -> dict[str, Look]:
    """Return every algorithm of an experiment its look.

    What a class states comes first; other labels of the same name, in alphabetical order, keep its colour and take
    other dashes and markers; a class that states none, or one that is taken, gets a free one, looked for from a place
    that its name alone decides.

    Args:
        algorithms: all that the experiment has, by label, in its order.

    Returns:
        Looks by label, no two with the same colour and dash; of more than there are pairs of those, the markers differ.
    """
    looks: dict[str, Look] = {}
    labels: dict[str, list[str]] = {}
    for label, algorithm in algorithms.items():
        labels.setdefault(algorithm.name, []).append(label)
    firsts = {name: min(own, key=lambda label: (label != name, label)) for name, own in labels.items()}
    for label in firsts.values():
        stated = algorithms[label].about.look
        if stated is not None and _free(stated, looks.values()):
            looks[label] = stated
    for label in firsts.values():
        if label not in looks:
            looks[label] = _first_free(_from_name(algorithms[label].name), looks.values())
    for name, label in firsts.items():
        for variant in sorted(set(labels[name]) - {label}):
            looks[variant] = _first_free(_like(looks[label]), looks.values())
    return {label: looks[label] for label in algorithms}


def _free(look: Look, taken: Iterable[Look]) -> bool:
    return all((look.colour, look.dash) != (other.colour, other.dash) for other in taken)


def _first_free(options: Iterator[Look], taken: Iterable[Look]) -> Look:
    found = list(options)
    pick = next((look for look in found if _free(look, taken)), None) or next(
        (look for look in found if look not in set(taken)), None
    )
    if pick is None:
        raise BocuError(f"more than {len(found)} algorithms have no look of their own: no line is left to tell them by")
    return pick


def _from_name(name: str) -> Iterator[Look]:
    digest = zlib.crc32(name.encode())
    for marker, dash, colour in product(
        _turned(MARKERS, digest // 42), _turned(DASHES, digest // 7), _turned(COLOURS, digest)
    ):
        yield Look(colour, dash, marker)


def _like(look: Look) -> Iterator[Look]:
    """Return looks of the same colour, then others."""
    start = MARKERS.index(look.marker) if look.marker in MARKERS else 0
    dashes = _turned(DASHES, DASHES.index(look.dash))
    colours = [look.colour, *(colour for colour in COLOURS if colour != look.colour)]
    for turn, colour in product(range(len(MARKERS)), colours):
        for place, dash in enumerate(dashes):
            yield Look(colour, dash, MARKERS[(start + place + turn) % len(MARKERS)])


def _turned(options: tuple[Option, ...], start: int) -> tuple[Option, ...]:
    start %= len(options)
    return options[start:] + options[:start]
