"""YAML as people write it: UTF-8, a key once, of a size and depth that a person could have written.

YAML itself forbids a key that stands twice, but loaders let the last one win, unsaid. They also read by YAML 1.1, in
which `1:30` is 90, `010` is 8 and `no` is false: what YAML 1.2 reads as something else is refused.
"""

import codecs
import re
from pathlib import Path
from typing import Any

import yaml

from bocu.core.errors import BocuError, shown, shown_key
from bocu.core.io.files import regular_file

LARGEST_BYTES = 4_000_000
MOST_VALUES = 200_000
DEEPEST = 100
_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
# What YAML 1.2 reads as the same, of what YAML 1.1 takes for a number or a truth value.
_SAME = {
    f"{_TAG}int": re.compile(r"[-+]?(0|[1-9][0-9]*)|0x[0-9a-fA-F]+"),
    f"{_TAG}float": re.compile(r"[-+]?[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan", re.IGNORECASE),
    f"{_TAG}bool": re.compile("true|false", re.IGNORECASE),
}
# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def read_yaml(path: str | Path) -> object:
    """Read a YAML file as plain data.

    Raises:
        BocuError: no such file, none that can be read as text in UTF-8, too large, no YAML, or a key stands twice.
    """
    size = regular_file(path).st_size
    if size > LARGEST_BYTES:
        raise BocuError(f"{path}: found {size / 1e6:.0f} MB; allowed: up to {LARGEST_BYTES // 10**6} MB of YAML")
    try:
        return parse_yaml(decoded(Path(path).read_bytes()))
    except BocuError as error:
        raise BocuError(f"{path}: {error}") from None
    except OSError as error:
        raise BocuError(f"{path}: cannot be read: {error.strerror or error}") from None


def decoded(content: bytes) -> str:
    """Decode text in UTF-8, with a byte order mark or without.

    Raises:
        BocuError: it is in another encoding.
    """
    for mark, name in _MARKS.items():
        if content.startswith(mark):
            raise BocuError(f"found text in {name}; allowed: UTF-8; save it as such")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{content[error.start]:02x} in line {line} is not UTF-8 (another encoding, or no text)"
        raise BocuError(f"{found}; allowed: UTF-8; save it as such") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BocuError(f"a zero byte in line {line}: no text, or not in UTF-8; allowed: text in UTF-8")
    return text


def parse_yaml(text: str) -> object:
    """Parse one YAML document as plain data.

    Raises:
        BocuError: it is no YAML, a key stands twice, or it is too deep or holds too many values.
    """
    try:
        _refuse_deep(text)
        return yaml.load(text, _StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise BocuError(f"{at}not YAML: {error.problem or error.context or 'a fault'}") from None
    except yaml.YAMLError as error:
        raise BocuError(f"not YAML: {getattr(error, 'reason', None) or error}") from None


def _refuse_deep(text: str) -> None:
    # By events, which are read one by one: the compiled loader ends the process where it goes too deep.
    depth = 0
    for event in yaml.parse(text, _StrictLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise BocuError(f"line {line}: nested too deeply; allowed: up to {DEEPEST} levels")


class _StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe loader that refuses what would be taken otherwise than it was meant."""

    def get_single_node(self) -> object:
        node = super().get_single_node()
        if node is not None:
            _count(node, {})
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        try:
            return super().construct_object(node, deep)
        except ValueError as error:  # a day that does not exist, a number of thousands of digits
            problem = f"found {shown(node.value)}; {error}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def _count(node: yaml.Node, known: dict[int, int | None], keys: tuple[object, ...] = ()) -> int:
    """Return the number of values that a node stands for, aliases written out; refuse keys that stand twice."""
    if id(node) in known:
        values = known[id(node)]
        if values is None:
            raise BocuError(f"line {node.start_mark.line + 1}: a value holds itself; allowed: values that end")
        return values
    known[id(node)] = None
    children: list[tuple[Any, tuple[object, ...]]] = []
    if isinstance(node, yaml.MappingNode):
        _refuse_twice(node)
        for key, value in node.value:
            children += [(key, keys), (value, (*keys, key.value if isinstance(key, yaml.ScalarNode) else "?"))]
    elif isinstance(node, yaml.SequenceNode):
        children = [(item, (*keys, place)) for place, item in enumerate(node.value)]
    else:
        _refuse_scalar(node, keys)
    values = 1
    for child, below in children:
        values += _count(child, known, below)
        if values > MOST_VALUES:
            line = node.start_mark.line + 1
            raise BocuError(f"line {line}: more than {MOST_VALUES} values, aliases written out; allowed: fewer")
    known[id(node)] = values
    return values


def _refuse_scalar(node: Any, keys: tuple[object, ...]) -> None:
    """Refuse what is written without quotes and is one thing to YAML 1.1 and another to YAML 1.2; and zero bytes."""
    same = None if node.style else _SAME.get(node.tag)
    if "\0" in node.value:
        said = "text holds no zero byte"
    elif same is None or same.fullmatch(node.value):
        return
    else:
        try:
            read = yaml.safe_dump(yaml.safe_load(node.value)).partition("\n")[0]
        except ValueError:  # of thousands of digits: refused as such
            return
        meant = f"write {read} if that is meant, '{node.value}' in quotes if text is"
        said = f"YAML 1.1 takes it for {read}, and YAML 1.2 does not; {meant}"
    at = f"{'.'.join(map(shown_key, keys))}: " if keys else ""
    raise BocuError(f"{at}found {shown(node.value)} in line {node.start_mark.line + 1}; {said}")


def _refuse_twice(node: yaml.Node) -> None:
    first: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        line = key.start_mark.line + 1
        if (key.tag, key.value) in first:
            name = "<<" if key.tag == _MERGE else shown_key(key.value)
            before = first[key.tag, key.value]
            raise BocuError(f"line {line}: the key '{name}' stands twice, first in line {before}; allowed: once")
        first[key.tag, key.value] = line
