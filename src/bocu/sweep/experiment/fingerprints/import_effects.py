"""What modules do when they are imported, beyond defining names: it counts for all that import them."""

import functools

from bocu.sweep.experiment.fingerprints.definition_links import Node, known_names, links, look_up, read
from bocu.sweep.experiment.fingerprints.definitions import CHANGERS
from bocu.sweep.experiment.fingerprints.syntax import words

# Calls that leave everything else as it is.
_HARMLESS = words(
    "abc collections contextlib dataclasses datetime decimal enum fractions functools itertools math numba numpy "
    "operator pathlib pydantic re scipy string types typing typing_extensions zoneinfo"
)
_HARMLESS_CALLS = frozenset({"logging.getLogger"})
_NOT_HARMLESS = ("numpy.random", "numpy.set")
_HARMFUL_BUILTINS = words("__import__ delattr eval exec input open print setattr")
_READING = words(  # methods of values that change nothing
    "copy count difference encode endswith format get index intersection items join keys lower lstrip max mean min "
    "partition replace rpartition rsplit rstrip split startswith strip sum title union upper values"
)


@functools.cache
def acting(module: str) -> tuple[int, ...]:
    """Return the statements that do, or may do, more than define a name."""
    return tuple(
        index
        for index, statement in enumerate(read(module).statements)
        if statement.acts
        or not all(_is_harmless((module, index), call) for call in statement.calls)
        or any(_hooks(module, base) for base in statement.bases)
    )


def _is_harmless(node: Node, call: str) -> bool:
    """Whether what a statement calls while its module is imported leaves everything else as it is."""
    head, *rest = call.split(".")
    targets = next((found for use, found in links(node)[0] if use in (call, head)), None)
    if targets is None:
        return head not in _HARMFUL_BUILTINS  # a builtin, or a name of the statement's own
    if rest and rest[-1] in CHANGERS:
        return False
    for target in targets:
        if isinstance(target, str):
            full = ".".join([target, *rest])
            harmless = target.partition(".")[0] in _HARMLESS and not full.startswith(_NOT_HARMLESS)
            if not harmless and full not in _HARMLESS_CALLS:
                return False
        elif read(target[0]).statements[target[1]].is_assignment and rest:
            if rest[-1] not in _READING:
                return False
        elif _leads_to_changes(target):
            return False
    return True


@functools.cache
def _leads_to_changes(start: Node) -> bool:
    """Whether a definition, or one that it uses, changes what a module-level name holds."""
    seen = {start}
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if read(node[0]).statements[node[1]].changes:
            return True
        for _, targets in links(node)[0]:
            new = {target for target in targets if not isinstance(target, str)} - seen
            seen |= new
            waiting.extend(new)
    return False


def _hooks(module: str, base: str) -> bool:
    """Whether a base class, or one of its own, has a say in what subclasses do when they are made."""
    if not base or base.partition(".")[0] not in known_names(module):
        return False
    for target in look_up(module, base.split(".")):
        if not isinstance(target, str):
            found = read(target[0]).statements[target[1]]
            if found.hooks or any(_hooks(target[0], deeper) for deeper in found.bases):
                return True
    return False
