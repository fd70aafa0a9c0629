"""Machine code that is called without its compiler: object code, which llvmlite links in a tenth of a second.

`bocu.ambiguity.compiled` imports numba, in 0.7 s: little beside what takes seconds, much for what saves microseconds a
call. Here a function takes numbers and addresses alone, makes no array and raises nothing, so that its object code
stands for itself; sums are never reordered. It is compiled in a process of its own, kept as
`bocu.ambiguity.machine_code` says, and used where a trial finds that it has the digits of what it stands for. A process
looks for it once its calls would have paid for linking it, and has it compiled, for all processes, when they would have
paid for that several times.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import math
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Reals = Any
"""The address of float64 numbers, in compiled code."""

Indices = Any
"""The address of int64 numbers, in compiled code."""

#: Seconds that calls would have saved: at first to look for code, at twice that again and so on; to have it compiled.
_LOOK, _COMPILE = 0.05, 0.2

#: Addresses of arrays without gaps that may be written to.
reals: Callable[[Any], Any] = ctypes.c_double.from_buffer
indices: Callable[[Any], Any] = ctypes.c_int64.from_buffer

#: The file of the code: a digest, the symbol to call, the code.
_FILE = "linked"

Function = Callable[..., Any]

_C: dict[str, Any] = {
    "Reals": ctypes.POINTER(ctypes.c_double),
    "Indices": ctypes.POINTER(ctypes.c_int64),
    "int": ctypes.c_int64,
}


class Linked:
    """A function in machine code, once it pays.

    Args:
        function: what is compiled, with the functions of its module that it calls; its arguments are annotated as
            `Reals`, `Indices` or `int`, and it returns nothing.
        trial: is given the machine code and tells whether it does as it should.
    """

    def __init__(self, function: Function, trial: Callable[[Function], bool]) -> None:
        self._source, self._trial = function, trial
        self._text = _text(function)
        self._saved, self._next = 0.0, _LOOK
        self._function: Function | None = None

    def after(self, seconds: float) -> Function | None:
        """Return the function, None where there is none yet, for a call that it makes so much shorter."""
        if self._function is None:
            self._saved += seconds
            if self._saved >= self._next:
                self._next = 2.0 * self._saved
                self.find(make=self._saved >= _COMPILE)
        return self._function

    def find(self, *, make: bool) -> Function | None:
        """Link the function where its code is found, or made if it may be; None where there is none."""
        from bocu.ambiguity import machine_code

        if not self._text or _text(self._source) != self._text:  # edited since
            return None
        folder = machine_code.folder_name(self._source.__module__)
        files = [place / folder / _FILE for place in machine_code.places()]
        code = next(filter(None, map(_read, files)), None)
        if code is None and make:
            code = next(filter(None, map(self._made, files)), None)
        if code is not None:
            self._next = math.inf
            linked = link(self._source, *code)
            # In each process: the code's folder does not tell how numpy was built.
            self._function = linked if self._trial(linked) else None
        return self._function

    def _made(self, file: Path) -> tuple[str, bytes] | None:
        """Have the code compiled into a file by a process of its own, unless another process is at it."""
        import subprocess

        import filelock

        command = [sys.executable, "-c", f"from {__name__} import compile_here; compile_here()"]
        order = pickle.dumps((self._source, file.absolute()))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with contextlib.suppress(OSError, NotImplementedError):  # a time-out is an OSError
            file.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.parent.mkdir(exist_ok=True)
            with filelock.FileLock(file.parent / "lock", timeout=0):
                subprocess.run(command, input=order, env=environment, capture_output=True)
        return _read(file)


def compile_here() -> None:
    """Compile a function into a file, which standard input names."""
    from bocu.ambiguity import machine_code

    function, file = pickle.loads(sys.stdin.buffer.read())  # of our own parent
    if machine_code.folder_name(function.__module__) != file.parent.name:
        sys.exit(f"{function.__module__} was edited meanwhile")
    symbol, code = object_code(function)
    content = f"{symbol}\n".encode() + code
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(hashlib.sha256(content).digest() + content)
    part.replace(file)


def object_code(function: Function) -> tuple[str, bytes]:
    """Symbol and object code of a function for this type of processor; those that it calls are compiled for good."""
    import numba

    module = sys.modules[function.__module__]
    options: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
    for name, called in list(vars(module).items()):
        if called is not function and getattr(called, "__module__", None) == function.__module__:
            setattr(module, name, numba.njit(called, **options))
    kinds = {"Reals": numba.types.CPointer(numba.float64), "Indices": numba.types.CPointer(numba.int64)}
    signature = numba.void(*(kinds.get(kind, numba.int64) for kind in _arguments(function)))
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made: Any = next(iter(numba.njit(signature, **options)(function).overloads.values()))
    return made.fndesc.llvm_func_name, made.library._get_compiled_object()


def link(source: Function, symbol: str, code: bytes) -> Function:
    """The machine code of a function. As numba calls it, places for an answer and a fault come first."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple().create_target_machine(codemodel="jitdefault", jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    places = [ctypes.c_void_p] * 2
    call = ctypes.CFUNCTYPE(ctypes.c_int, *places, *map(_C.__getitem__, _arguments(source)))(
        engine.get_function_address(symbol)
    )
    answer, fault = ctypes.c_void_p(), ctypes.c_void_p()
    function = functools.partial(call, ctypes.addressof(answer), ctypes.addressof(fault))
    function.keeps = engine, answer, fault  # type: ignore[attr-defined]
    return function


def _arguments(function: Function) -> list[str]:
    """What its arguments are, words of `_C`."""
    return [kind for argument, kind in function.__annotations__.items() if argument != "return"]


def _text(function: Function) -> bytes:
    """The source of its module; empty where there is none."""
    try:
        return Path(function.__code__.co_filename).read_bytes()
    except OSError:
        return b""


def _read(file: Path) -> tuple[str, bytes] | None:
    """Symbol and code of a file; None where there is none, or a crash cut it short."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    digest, content = content[:32], content[32:]
    symbol, _, code = content.partition(b"\n")
    return (symbol.decode(), code) if hashlib.sha256(content).digest() == digest else None
