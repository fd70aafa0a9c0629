"""What changed from one piece of plain data to another, key by key."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_SHOWN = 80  # characters of a value
_ABSENT = object()


def changes(old: object, new: object, where: str = "") -> Iterator[str]:
    """Return a line for every key that differs, such as ``problem.parameters.noise: 0.05 -> 0.07``.

    Entries of lists are told apart by their labels where they have any.
    """
    if isinstance(old, list) and isinstance(new, list):
        old, new = _by_name(old), _by_name(new)
        if list(old) != list(new) and old.keys() == new.keys():
            yield f"{where}: other order"
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from changes(old.get(key, _ABSENT), new.get(key, _ABSENT), f"{where}.{key}" if where else str(key))
    elif _text(old) != _text(new):  # 1 and 1.0 are the same number, but not the same specification
        yield f"{where}: {_cut(_text(old))} -> {_cut(_text(new))}"


def _by_name(entries: list[Any]) -> dict[str, object]:
    return {_name(entry, position): entry for position, entry in enumerate(entries)}


def _name(entry: object, position: int) -> str:
    if isinstance(entry, Mapping) and "label" in entry:
        return str(entry["label"])
    if isinstance(entry, Mapping) and {"objective", "algorithm"} <= entry.keys():
        return f"{entry['objective']}/{entry['algorithm']}"
    return str(position)


def _text(value: object) -> str:
    return "(none)" if value is _ABSENT else json.dumps(value, sort_keys=True)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
