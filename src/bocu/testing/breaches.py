"""What all checks share: which class is looked at, and the one line of what it breaks."""

import inspect
import random
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters, validate
from bocu.sweep.experiment.plugins import refuse_breach, refuse_heavy
from bocu.sweep.experiment.registry import RegisteredClass, find


class Breach(AssertionError):
    """A promise that a class does not keep; one line."""


@dataclass(frozen=True)
class Subject:
    """A class that is looked at."""

    entry: RegisteredClass  #: where it stands.
    kind: Any  #: the class.
    said: str  #: what it is called in lines about it.

    def parameters(self, given: Mapping[str, object] | None) -> Any:
        """Return its parameters, checked.

        Raises:
            Breach: they are not allowed.
        """
        try:
            return validate(self.kind.Parameters, given or {}, "parameters.")
        except BocuError as error:
            self.broken(str(error))

    def specification(self, parameters: Parameters) -> dict[str, Any]:
        """Return what a run file would hold of it."""
        return {"class": self.entry.identity, "parameters": parameters.model_dump(mode="json")}

    def broken(self, line: str) -> NoReturn:
        """Say what is broken."""
        __tracebackhide__ = True
        raise Breach(f"{self.said}: {line}")

    def wants(self, holds: object, line: str) -> None:
        """Say what is broken, unless it holds."""
        __tracebackhide__ = True
        if not holds:
            self.broken(line)

    @contextmanager
    def calling(self, what: str) -> Iterator[None]:
        """Turn whatever the class raises into one line: what was called, what came, and where."""
        __tracebackhide__ = True
        try:
            yield
        except Breach:
            raise
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            found = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise Breach(f"{self.said}: {what}: raised {found} ({Path(at.filename).name}, line {at.lineno})") from error


def subject(kind: str, what: str | type) -> Subject:
    """Find what is to be looked at, and look whether it is a class of the kind.

    Args:
        kind: "problem", "set", "law", "shift", "objective", "algorithm", "metric" or "figure".
        what: as an experiment file may name it, relative to the file of the caller's caller; or the class.

    Raises:
        Breach: there is none, or it is no class of the kind.
    """
    __tracebackhide__ = True
    named = what if isinstance(what, str) else f"{what.__module__}:{what.__qualname__}"
    said = f"{kind} {named}"
    try:
        entry = find(kind, named, folder=_folder_of_test())
        found = entry.load()
        refuse_breach(kind, found, "the class")
        if entry.origin:
            refuse_heavy(entry)
    except BocuError as error:
        raise Breach(f"{said}: {error}") from None
    checked = Subject(entry, found, said)
    about = found.about
    checked.wants(about.title and about.summary, f"about: found {about.title!r} and {about.summary!r}; say both")
    checked.wants(not about.summary.endswith("."), "about: the summary is a phrase without a full stop")
    for key, field in found.Parameters.model_fields.items():
        checked.wants(field.description, f"Parameters: '{key}' has no description")
    return checked


def _folder_of_test() -> Path:
    """Return the folder of the file that called the check."""
    package = str(Path(__file__).parent)
    for frame in inspect.stack(0):
        if not frame.filename.startswith(package) and Path(frame.filename).is_file():
            return Path(frame.filename).resolve().parent
    return Path()


@contextmanager
def global_generators(seed: int) -> Iterator[Any]:
    """Set the generators that a process has anyway, and put them back.

    Yields:
        A function that names those which were drawn from since: an algorithm is handed one of its own.
    """
    torch = sys.modules.get("torch")
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002
    torch_state = torch.get_rng_state() if torch else None
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    if torch:
        torch.manual_seed(seed)
    set_to = _states(torch)
    try:
        yield lambda: [name for name, state in _states(torch).items() if state != set_to[name]]
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
        if torch:
            torch.set_rng_state(torch_state)


def _states(torch: Any) -> dict[str, Any]:
    state = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    found: dict[str, Any] = {"numpy": (state["pos"], state["key"].tobytes()), "random": random.getstate()}
    if torch:
        found["torch"] = torch.get_rng_state().numpy().tobytes()
    return found


def same(one: object, other: object) -> bool:
    """Say whether two arrays are the same bit for bit."""
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
