"""What classes from outside say of themselves: asked once of a process that imports them, and kept.

What such a class imports, torch perhaps, would slow down every parse of the workflow; planning reads what is kept here.
It is kept by the contents of the files that the class reaches, wherever these lie, so nothing in it can be out of date;
where it cannot be read or written, the class is asked again.
"""

import atexit
import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bocu.core.errors import BocuError
from bocu.core.places import places, remember_all
from bocu.core.plain import Plain
from bocu.experiment.fingerprints.fingerprint import own_code, source_files
from bocu.io.files import atomic_path

if TYPE_CHECKING:
    from bocu.experiment.branches import Component
    from bocu.experiment.registry import RegisteredClass

ANSWERS = "bocu.experiment.plugins.answers"


def ask(entry: "RegisteredClass", question: str, **arguments: object) -> Any:
    """Return what a class from outside answers.

    Args:
        entry: the class.
        question: the name of a function of `answers`.
        arguments: of that function, as plain data.

    Returns:
        Plain data.

    Raises:
        BocuError: the class cannot be imported, breaks the contract, or refuses the arguments.
    """
    memo = _memo(entry)
    key = hashlib.sha256(json.dumps([entry.kind, question, arguments], sort_keys=True).encode()).hexdigest()
    known = memo.answers.get(key)
    if known is None or not all(map(_stands, known["places"].items())):
        known = _asked(entry, question, arguments)
        memo.answers[key] = memo.new[key] = known
    remember_all(known["places"])
    return known["answer"]


def unfit(algorithm: "Component", objective: "Component") -> str:
    """Say why an algorithm is not defined for an objective, one of them from outside; empty where it is."""
    found: str = ask(
        algorithm.registered,
        "unfit",
        values=algorithm.parameters.model_dump(mode="json"),
        objective=asdict(objective.registered),
        stated=objective.parameters.model_dump(mode="json"),
    )
    return found


def _stands(place: tuple[str, str]) -> bool:
    """Say whether a class that an answer mentions is still where it was, and the same."""
    called, target = place
    try:
        return own_code(target) == called.rpartition("@")[2]
    except BocuError:
        return False


class _Memo:
    """What is known of one class, in one file.

    Attributes:
        file: where it is kept; None where there is no home to keep it in.
        answers: by the hash of the question.
        new: those that the file does not have yet.
    """

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.answers: Plain = self._read()
        self.new: Plain = {}
        atexit.register(self.save)

    def _read(self) -> Plain:
        try:
            checksum, _, text = self.file.read_text(encoding="utf-8").partition("\n") if self.file else ("", "", "")
            kept: Plain = json.loads(text) if checksum == _checksum(text) else {}
            return kept
        except (OSError, ValueError):
            return {}

    def save(self) -> None:
        """Add what is new to the file."""
        if self.file is None or not self.new:
            return
        text = json.dumps({**self._read(), **self.new}, sort_keys=True)
        self.new = {}
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(self.file) as temporary:
                temporary.write_text(f"{_checksum(text)}\n{text}", encoding="utf-8")
        except (BocuError, OSError):
            pass  # asked again, next time


def forget() -> None:
    """Ask anew: a class was edited while this process runs."""
    _memo.cache_clear()
    if _process.cache_info().currsize:
        _process().end()
        _process.cache_clear()


@functools.cache
def _memo(entry: "RegisteredClass") -> _Memo:
    sources = sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in source_files([entry.target]))
    return _memo_of(entry.name, tuple(sources))


@functools.cache
def _memo_of(name: str, sources: tuple[str, ...]) -> _Memo:
    readers = [file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py"))]
    known_by = b"\0".join([*readers, sys.version.encode(), name.encode(), *map(str.encode, sources)])
    digest = hashlib.sha256(known_by).hexdigest()[:20]
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        return _Memo(None)
    return _Memo(home / "bocu" / "classes" / f"{name}-{digest}.json")


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _asked(entry: "RegisteredClass", question: str, arguments: Plain) -> Plain:
    told = {"entry": asdict(entry), "question": question, "arguments": arguments, "places": places()}
    reply = _process().ask({**told, "path": sys.path})
    if "fault" in reply:
        raise BocuError(reply["fault"])
    return reply


class _Process:
    """A process that imports classes from outside, and answers one question a line."""

    def __init__(self) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        # -P: modules of the working folder are not found, for jobs do not find them either.
        command = [sys.executable, "-P", "-m", ANSWERS]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        atexit.register(self.end)

    def ask(self, question: Plain) -> Plain:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = ""
        try:
            self._process.stdin.write(f"{json.dumps(question)}\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            pass
        if not line:
            self._errors.seek(0)
            last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
            entry = question["entry"]
            _process.cache_clear()
            raise BocuError(
                f"{entry['kind']} '{entry['name']}' ({entry['origin']}): the process that imports it ended with exit "
                f"status {self._process.wait()}: {last}"
            )
        reply: Plain = json.loads(line)
        return reply

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()


@functools.cache
def _process() -> _Process:
    return _Process()
