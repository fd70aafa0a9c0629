"""What Snakemake does anew for each job, and the warm executor has it do once, or at less cost, or not at all.

It replaces parts of Snakemake that are not public, of the minor versions in `KNOWN`; under others all stays as it is.
"""

import functools
import inspect
import json
import logging
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from logging.handlers import QueueHandler
from pathlib import Path
from typing import Any

from snakemake import common, rules
from snakemake import script as scripts
from snakemake.common import get_snakemake_searchpaths, overwrite_function_params
from snakemake.jobs import Job
from snakemake.logging import logger
from snakemake.persistence.file import FilePersistence
from snakemake.resources import Resource
from snakemake_interface_logger_plugins.common import LogEvent

_PYTHONS = signal.default_int_handler  # raises KeyboardInterrupt

_WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
_GROUP = stat.S_IRGRP | stat.S_IWGRP


def replace(replaced: ExitStack, module: Any, name: str, value: Any) -> None:
    """Put something in the place of a part of Snakemake, until `replaced` is closed."""
    replaced.callback(setattr, module, name, getattr(module, name))
    setattr(module, name, value)


def spare_repeated_work(replaced: ExitStack) -> None:
    """Let be found once what Snakemake finds anew for each job, or each part of a job."""
    overwrite_function_params(Resource.evaluate, inspect.signature(Resource(" ", 0).evaluate).parameters)
    for module in (common, rules):
        replace(replaced, module, "get_function_params", parameters_of)
    replace(replaced, Job, "is_pipe_or_service_input", lambda job, path: path in piped_to(job))
    replace(replaced, FilePersistence, "_io_write", write_note)
    replace(replaced, FilePersistence, "_record_path", functools.lru_cache(64)(FilePersistence._record_path))
    folders = functools.cache(lambda: tuple(get_snakemake_searchpaths()))
    replace(replaced, scripts, "get_snakemake_searchpaths", lambda: list(folders()))
    replace(replaced, scripts, "get_source", read_once(scripts.get_source))
    for package in ("numpy", "pandas", "polars"):  # looked for along all paths, for every job, where there is none
        if package not in sys.modules and find_spec(package) is None:
            sys.modules[package] = None  # type: ignore[assignment]
            replaced.callback(sys.modules.pop, package, None)
    # While Python's own handler stands, asyncio takes its place and gives it back around each coroutine.
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is _PYTHONS:
        replaced.callback(signal.signal, signal.SIGINT, _PYTHONS)
        signal.signal(signal.SIGINT, lambda number, frame: _PYTHONS(number, frame))


def parameters_of(function: Any) -> Any:
    """Return a function's parameters, and note them on it as Snakemake does where it makes one itself."""
    known = getattr(function, common.FUNC_OVERWRITE_PARAMS_ATTR, None)
    if known is None:
        known = inspect.signature(function).parameters
        with suppress(AttributeError):  # a method
            overwrite_function_params(function, known)
    return known


@functools.lru_cache(1)  # asked for one input after the other, for each of which Snakemake walks through all jobs
def piped_to(job: Job) -> frozenset[Any]:
    """Return the inputs of a job that come through a pipe or from a service, of a job that it runs beside."""
    before = job.dag.dependencies[job].items()
    return frozenset(path for made_by, paths in before for path in made_by.pipe_or_service_output if path in paths)


def write_note(
    persistence: FilePersistence, folder: str, value: Any, name: str, mode: int = stat.S_IRUSR | stat.S_IWUSR | _GROUP
) -> None:
    """Write a file of what Snakemake knows of an output, as it does itself, in a third of the system calls."""
    path = persistence._record_path(folder, name)
    try:
        file = os.open(path, _WRITTEN, mode)
    except FileNotFoundError:  # a long name is one in folders
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, _WRITTEN, mode)
    with os.fdopen(file, "w", encoding="utf-8") as opened:
        opened.write(json.dumps(value))  # `json.dump` does it in Python, a word at a time
        given = stat.S_IMODE(os.fstat(file).st_mode)
        if given | mode != given:
            os.fchmod(file, given | mode)


def spare_noise(replaced: ExitStack) -> None:
    """Let lines that are said of a job cost less, and those that say nothing not be said.

    All that is shown and kept reads as ever, but for `Select jobs to execute...` before each job.
    """
    for module, name in ((logging, name) for name in ("logThreads", "logProcesses", "logMultiprocessing")):
        replace(replaced, module, name, False)
    replace(replaced, logging, "_srcfile", None)  # where a line comes from, which no format names
    logger.addFilter(says_something)
    replaced.callback(logger.removeFilter, says_something)
    for handler in logger.handlers:
        if isinstance(handler, QueueHandler):  # to a plug-in of this process, so no need to copy
            copied = handler.prepare
            replace(replaced, handler, "prepare", functools.partial(as_it_is, copied))


def says_something(record: logging.LogRecord) -> bool:
    """Return whether a line is one that anybody reads."""
    nothing_run = getattr(record, "shellcmd", "") is None and record.__dict__.get("event") == LogEvent.SHELLCMD
    return not nothing_run and record.msg != "Select jobs to execute..."


def as_it_is(copied: Callable[[logging.LogRecord], Any], record: logging.LogRecord) -> Any:
    """Return a line for another thread: itself where nothing of it has yet to be worded, else what `copied` makes."""
    return copied(record) if record.args or record.exc_info or record.stack_info else record


def read_once(get_source: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reader of scripts that keeps what it has read; Snakemake reads a copy of its own for each job."""
    kept: dict[tuple[str, Any], Any] = {}

    def get_kept(path: Any, sources: Any, basedir: Any = None, wildcards: Any = None, params: Any = None) -> Any:
        if "{" in str(path):  # another one for each job
            return get_source(path, sources, basedir, wildcards, params)
        place = str(path), basedir
        if place not in kept:
            kept[place] = get_source(path, sources, basedir, wildcards, params)
        return kept[place]

    return get_kept


def wait_for_nothing(workflow: Any, replaced: ExitStack) -> None:
    """Spare a workflow a loop of events, several for each job, where there is nothing to be waited for."""
    run, retrieve = workflow.async_run, workflow.dag.retrieve_storage_inputs

    def retrieve_what_is_stored(jobs: Sequence[Any], **how: Any) -> Any:
        stored = any(file.is_storage for job in jobs if not job.is_group() for file in job.input)
        return retrieve(jobs=jobs, **how) if stored or any(job.is_group() for job in jobs) else None

    replace(replaced, workflow, "async_run", lambda coroutine: None if coroutine is None else run(coroutine))
    replace(replaced, workflow.dag, "retrieve_storage_inputs", retrieve_what_is_stored)
