"""The state of an algorithm that says none of its own: its attributes, as far as they are plain.

Plain are numbers, texts, arrays and tensors, lists, tuples, dicts and deques of them, generators of random numbers,
rounds, and objects that have `state` and `restore` themselves. Nothing is pickled. What is not plain (a fitted model,
say) is named instead: the run tells a fresh algorithm again what was told, then puts back what is plain.
"""

import random
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.plain import State
from bocu.core.rounds import Round

if TYPE_CHECKING:
    from bocu.learners.algorithms.base import Algorithm

PLAIN, TOLD_AGAIN = "plain", "told_again"
_HANDED_IN = ("description", "objective", "parameters", "generator")
_BUILT = (*_HANDED_IN, "reports", "ambiguity")  #: Attributes that are the same in every object built alike.
_LEAVES = (bool, int, float, str, type(None))
_BIT_GENERATORS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}


class _NotPlain(Exception):
    """What was met cannot be written down."""


def plain_state(algorithm: "Algorithm[Any]") -> State:
    """Return the attributes of an algorithm as data that nothing done later changes.

    Returns:
        Under "plain" what `put_back` takes, by attribute; under "told_again" a few words on each of those that are not
        plain.
    """
    handed_in = _handed_in(algorithm)
    attributes = {name: value for name, value in vars(algorithm).items() if name not in _BUILT}
    left: dict[str, str] = {}
    while True:
        writer = _Writer(handed_in)
        plain: State = {}
        for name in [name for name in attributes if name not in left]:
            before = dict(writer.known)
            try:
                plain[name] = writer.write(name, attributes[name])
            except _NotPlain as found:
                writer.known = before
                left[name] = str(found)
        views = writer.overlapping() & plain.keys()
        if not views:
            return {PLAIN: plain, TOLD_AGAIN: left}
        left |= dict.fromkeys(views, "shares its memory with another array")


def needs_telling(state: Mapping[str, Any]) -> bool:
    """Say whether a state comes back only after telling again what was told."""
    return bool(state.get(TOLD_AGAIN))


def when_told(state: Mapping[str, Any]) -> State:
    """Return what is left to restore once that was done."""
    return {**state, TOLD_AGAIN: {}}


def put_back(algorithm: "Algorithm[Any]", state: Mapping[str, Any]) -> None:
    """Set the attributes that `plain_state` wrote down.

    Raises:
        BocuError: others are not plain, and nobody has told again what was told; or an object with a state of its own
            is not there.
    """
    if needs_telling(state):
        named = ", ".join(f"{name} ({words})" for name, words in sorted(state[TOLD_AGAIN].items()))
        raise BocuError(
            f"{algorithm.about.title}: its state cannot be put back alone, for not all attributes are plain: {named}; "
            "tell it again what it was told, or give the class `state` and `restore`"
        )
    reader = _Reader(_handed_in(algorithm))
    for name, written in state[PLAIN].items():
        setattr(
            algorithm, name, reader.read(written, getattr(algorithm, name, None), f"{algorithm.about.title}: {name}")
        )


def _handed_in(algorithm: "Algorithm[Any]") -> State:
    """Return what an algorithm gets whenever it is built, by a name of ours."""
    found = {name: getattr(algorithm, name) for name in _HANDED_IN}
    for name in [each.name for each in fields(algorithm.description)]:
        found[f"description.{name}"] = getattr(algorithm.description, name)
    for name in type(algorithm.parameters).model_fields:
        found[f"parameters.{name}"] = getattr(algorithm.parameters, name)
    return {name: value for name, value in found.items() if type(value) not in _LEAVES}


@dataclass
class _Writer:
    """Turns values into lists that begin with a word for their kind; what was met before is a reference to it."""

    handed_in: Mapping[str, Any]
    known: dict[int, int] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)  # or an identity could be another object's later
    ranges: list[tuple[int, int, str, np.ndarray]] = field(default_factory=list)
    attribute: str = ""

    def write(self, attribute: str, value: Any) -> Any:
        self.attribute = attribute
        return self._write(value)

    def overlapping(self) -> set[str]:
        """Return the attributes with arrays that share memory with another array, such as views of each other."""
        found: set[str] = set()
        reach: tuple[int, str, np.ndarray] | None = None
        for start, end, name, array in sorted(self.ranges, key=lambda each: each[:2]):
            if reach is not None and start < reach[0] and np.shares_memory(array, reach[2]):
                found |= {name, reach[1]}
            if reach is None or end > reach[0]:
                reach = end, name, array
        return found

    def _write(self, value: Any) -> Any:
        if type(value) in _LEAVES:
            return value
        given = next((name for name, each in self.handed_in.items() if each is value), None)
        if given is not None:
            return ["given", given]
        if id(value) in self.known:
            return ["again", self.known[id(value)]]
        written = self._new(value)
        self.known[id(value)] = len(self.kept)
        self.kept.append(value)
        return [*written[:1], len(self.kept) - 1, *written[1:]]

    def _new(self, value: Any) -> list[Any]:
        kind = type(value)
        if kind in (list, tuple, deque):
            limit = [value.maxlen] if kind is deque else []
            return [kind.__name__, *limit, *map(self._write, value)]
        if kind is dict:
            return ["dict", *([self._write(key), self._write(each)] for key, each in value.items())]
        if kind is np.ndarray and not value.dtype.hasobject:
            return self._array(value)
        if parts := _parts(value):
            return ["made", *map(self._write, parts)]
        torch = sys.modules.get("torch")
        if torch is not None and kind is torch.Tensor and not value.requires_grad and value.device.type == "cpu":
            return ["tensor", *self._array(_numpy(value))]
        if callable(getattr(value, "state", None)) and callable(getattr(value, "restore", None)):
            return ["own", value.state()]
        raise _NotPlain(f"{kind.__module__}.{kind.__qualname__}")

    def _array(self, array: np.ndarray) -> list[Any]:
        if array.size:
            self.ranges.append((*np.lib.array_utils.byte_bounds(array), self.attribute, array))
        if array.flags.c_contiguous or array.flags.f_contiguous:
            return ["array", array.copy(order="K"), None]
        return ["array", np.ascontiguousarray(array), list(array.strides)]  # sums go in the order of the memory


def _numpy(tensor: Any) -> np.ndarray:
    try:
        array: np.ndarray = tensor.numpy()
    except (TypeError, RuntimeError):
        raise _NotPlain(f"a tensor of {tensor.dtype}") from None
    return array


@dataclass
class _Reader:
    handed_in: Mapping[str, Any]
    known: dict[int, Any] = field(default_factory=dict)

    def read(self, written: Any, there: Any, where: str) -> Any:
        """Return what was written; `there` is what stands in its place now."""
        if not isinstance(written, list):
            return written
        word, number, *rest = written
        if word == "given":
            return self.handed_in[number]
        if word == "again":
            return self.known[number]
        self.known[number] = self._new(word, rest, there, where)
        return self.known[number]

    def _new(self, word: str, rest: list[Any], there: Any, where: str) -> Any:
        def read(item: Any) -> Any:
            return self.read(item, None, where)

        if word in ("list", "tuple"):
            return (list if word == "list" else tuple)(map(read, rest))
        if word == "deque":
            return deque(map(read, rest[1:]), rest[0])
        if word == "dict":
            return {read(key): read(value) for key, value in rest}
        if word == "array":
            return _array(*rest)
        if word == "tensor":
            import torch  # slow, and most algorithms do without

            return torch.from_numpy(_array(*rest[1:]))
        if word == "made":
            return _made(*map(read, rest))
        if not callable(getattr(there, "restore", None)):
            raise BocuError(f"{where}: nothing with `restore` stands there when it is built; build it in __init__")
        there.restore(rest[0])
        return there


def _array(values: np.ndarray, strides: list[int] | None) -> np.ndarray:
    """Return a copy of an array with the steps in memory that it had."""
    if strides is None:
        return values.copy(order="K")
    back = sum((size - 1) * min(step, 0) for size, step in zip(values.shape, strides, strict=True))
    ahead = sum((size - 1) * max(step, 0) for size, step in zip(values.shape, strides, strict=True))
    buffer = np.empty(ahead - back + values.itemsize, dtype=np.uint8)
    array: np.ndarray = np.ndarray(values.shape, values.dtype, buffer, -back, strides)
    array[...] = values
    return array


def _parts(value: Any) -> tuple[Any, ...]:
    """Take a round, a number of numpy's or a generator apart, for `_made`; nothing for others."""
    kind = type(value)
    if kind is Round:
        return "round", *(getattr(value, each.name) for each in fields(value))
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return "scalar", np.asarray(value)
    if kind is np.random.Generator and isinstance(value.bit_generator.seed_seq, np.random.SeedSequence):
        bits, seeds = value.bit_generator, value.bit_generator.seed_seq
        spawning = seeds.entropy, seeds.spawn_key, seeds.pool_size, seeds.n_children_spawned
        return "generator", type(bits).__name__, dict(bits.state), *spawning
    if kind is np.random.RandomState:
        return "legacy", dict(value.get_state(legacy=False))
    if kind is random.Random:
        return "python", value.getstate()
    if kind is getattr(sys.modules.get("torch"), "Generator", None):
        return "torch", value.get_state().numpy()
    return ()


def _made(kind: str, *parts: Any) -> Any:
    """Put together again what `_parts` took apart."""
    if kind == "round":
        return Round(*parts)
    if kind == "scalar":
        return parts[0][()]
    generator: Any
    if kind == "generator":
        name, state, entropy, key, pool, spawned = parts
        seeds = np.random.SeedSequence(entropy, spawn_key=key, pool_size=pool, n_children_spawned=spawned)
        generator = np.random.Generator(_BIT_GENERATORS[name](seeds))
        generator.bit_generator.state = state
    elif kind == "legacy":
        generator = np.random.RandomState()
        generator.set_state(*parts)
    elif kind == "python":
        generator = random.Random()
        generator.setstate(*parts)
    else:
        import torch

        generator = torch.Generator()
        generator.set_state(torch.from_numpy(*parts))
    return generator
