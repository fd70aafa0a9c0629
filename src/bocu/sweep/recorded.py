"""What `bocu resume` takes up of a command line that lies under results/.

That folder may be somebody else's, and Snakemake runs what its arguments name: a Snakefile, Python in a profile, in
resources and after `--logger`, programs of `--precommand` and `--jobscript`. So a command is rebuilt of the options
below, with values of these forms. The Snakefile and the profiles are those of the clone, what `--config` sets is looked
at as settings are that a record names, and files of `--configfile` as files are that it names: `bocu.sweep.opening`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bocu.core.errors import BocuError, shown
from bocu.sweep.experiment.clone import of_clone

_NUMBER = r"\d+(\.\d+)?"
_WORD = r"[a-z][a-z0-9_-]*"
_RULE = r"[a-z][a-z0-9_]*"
_AMOUNT = rf"({_NUMBER}|[A-Za-z0-9][A-Za-z0-9_-]*)"  # Snakemake evaluates it: a number or a name calls nothing
_RESOURCE = "(mem_mb|disk_mb|runtime|nodes|tasks|cpus_per_task|slurm_account|slurm_partition|slurm_constraint|qos)"
_TARGET = r"(?!.*\.\.)[A-Za-z0-9][\w./-]*"

FLAGS = frozenset(
    {
        *("--keep-going", "-k", "--rerun-incomplete", "--ri", "--show-failed-logs", "--printshellcmds", "-p"),
        *("--nocolor", "--verbose", "--notemp", "--nt", "--forceall", "-F", "--force", "-f"),
        *("--slurm-requeue", "--slurm-no-requeue", "--slurm-no-account", "--slurm-keep-successful-logs"),
    }
)
ONE_VALUE = {
    **dict.fromkeys(("--cores", "-c", "--jobs", "-j"), rf"{_NUMBER}|all|unlimited"),
    **dict.fromkeys(("--retries", "--restart-times", "-T", "--latency-wait", "--output-wait", "-w"), _NUMBER),
    **dict.fromkeys(("--local-cores", "--max-threads", "--scheduler-subsample", "--max-checksum-file-size"), _NUMBER),
    **dict.fromkeys(("--max-status-checks-per-second", "--seconds-between-status-checks"), _NUMBER),
    **dict.fromkeys(("--executor", "-e"), "local|warm|slurm"),
    "--max-jobs-per-timespan": r"\d+/\d+[smh]?",
    "--scheduler": "greedy|ilp",
    "--slurm-qos": r"[A-Za-z0-9][\w-]*",
    "--slurm-reservation": r"[A-Za-z0-9][\w-]*",
    "--slurm-status-command": "squeue|sacct",
    "--slurm-init-seconds-before-status-checks": _NUMBER,
}
VALUES = {
    **dict.fromkeys(("--quiet", "-q"), _WORD),
    **dict.fromkeys(("--until", "-U", "--omit-from", "-O", "--forcerun", "-R", "--prioritize", "-P"), _TARGET),
    **dict.fromkeys(("--default-resources", "--default-res"), rf"{_RESOURCE}={_AMOUNT}"),
    **dict.fromkeys(("--resources", "--res"), rf"{_WORD}={_NUMBER}"),
    "--set-resources": rf"{_RULE}:{_RESOURCE}={_AMOUNT}",
    "--set-threads": rf"{_RULE}=\d+",
    "--rerun-triggers": "code|input|mtime|params|software-env",
    "--logger": "bocu",
}
CLONE = {"--snakefile": "Snakefile", "-s": "Snakefile", "--workflow-profile": "profiles"}
"""Options whose value is this file of the clone, or in this folder of it."""
_SETTINGS = ("--config", "-C")
_FILES = ("--configfile", "--configfiles")
_JOINED = re.compile(r"(-[cjTw])(\d+)")


@dataclass
class Recorded:
    """A command line of Snakemake, taken apart.

    Attributes:
        options: all but what follows, as they stood.
        files: of `--configfile`.
        settings: of `--config`, "key=value" each.
        targets: what it was to make.
    """

    options: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    def command(self) -> list[str]:
        """Return the arguments put together again."""
        files = ["--configfile", *self.files] if self.files else []
        settings = ["--config", *self.settings] if self.settings else []
        return [*self.options, *files, *settings, *(["--", *self.targets] if self.targets else [])]


def read_recorded(arguments: Sequence[str]) -> Recorded:
    """Take a recorded command line apart.

    Raises:
        BocuError: an option or a value that is not taken up.
    """
    found = Recorded()
    for option, values in _grouped(arguments):
        if option == "--":
            found.targets += [_of_form(value, _TARGET, value) for value in values]
        elif option in _FILES:
            found.files = list(values)
        elif option in _SETTINGS:
            found.settings = list(values)
        elif option in CLONE and len(values) == 1 and _of_the_clone(option, values[0]):
            found.options += [option, *values]
        elif option in FLAGS and not values:
            found.options.append(option)
        elif option in ONE_VALUE and len(values) == 1:
            found.options += [option, _of_form(values[0], ONE_VALUE[option], f"{option} {values[0]}")]
        elif option in VALUES:
            found.options += [option, *(_of_form(each, VALUES[option], f"{option} {each}") for each in values)]
        else:
            raise _not_taken_up(" ".join([option, *values]))
    return found


def _grouped(arguments: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Return every option with its values; targets follow "--"."""
    words = list(arguments)
    while words:
        option, equals, value = words.pop(0).partition("=")
        if option == "--":
            yield "--", words
            return
        if joined := _JOINED.fullmatch(option):
            option, equals, value = joined[1], "=", joined[2]
        if not option.startswith("-"):
            yield "--", [option + equals + value]
            continue
        single = option in FLAGS or bool(equals)
        most = 1 if option in ONE_VALUE or option in CLONE else len(words)
        values = [value] if equals else []
        while words and not single and len(values) < most and not words[0].startswith("-"):
            values.append(words.pop(0))
        yield option, values


def _of_form(value: str, form: str, said: str) -> str:
    if not re.fullmatch(form, value):
        raise _not_taken_up(said)
    return value


def _of_the_clone(option: str, value: str) -> bool:
    path = Path(value).resolve()
    return (option == "--workflow-profile" and value == "none") or any(
        place in (path, path.parent) for place in of_clone(CLONE[option])
    )


def _not_taken_up(said: str) -> BocuError:
    return BocuError(f"found {shown(said)}, which is not taken up")
