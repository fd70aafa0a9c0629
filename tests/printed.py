"""What README, docs and the comments of configuration files print: command lines and blocks of code."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGES = ("README.md", "docs/*.md", "data/*.md", "config/*.md")
COMMENTED = ("config/**/*.yaml", "profiles/*/config.yaml", "environment.yml")
PROGRAMS = ("bocu", "conda", "make", "pip", "python", "scancel", "snakemake", "sbatch", "squeue", ".ci/start-slurm")
SHELL = ("", "bash", "console", "sh")
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n)+")
_INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_COMMENTED = re.compile(r"(?<=^#\n)(?:^#     .*\n)+", re.MULTILINE)
# Indented blocks that hold no commands, by how they begin.
NO_COMMANDS = ("data/<source>/", "results/<name>/", "seconds = ", "share = ")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and text."""

    page: str
    language: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command line as a page prints it, without comment.

    Attributes:
        inline: within a sentence or a table, where a command may be named without its arguments.
    """

    page: str
    words: tuple[str, ...]
    inline: bool = False


def blocks(root: Path, *languages: str) -> Iterator[Block]:
    """Return the fenced blocks of all pages; of all languages if none is given."""
    for page in _files(root, PAGES):
        for language, text in _FENCED.findall((root / page).read_text(encoding="utf-8")):
            if not languages or language in languages:
                yield Block(page, language, text)


def commands(root: Path) -> Iterator[Command]:
    """Return every command line of all pages, and of the comments of configuration files."""
    for block in blocks(root, *SHELL):
        yield from _lines(block.page, block.text)
    for page in _files(root, PAGES):
        text = _FENCED.sub("", (root / page).read_text(encoding="utf-8"))
        for block in _INDENTED.findall(text):
            if not block.lstrip().startswith(NO_COMMANDS):
                yield from _lines(page, re.sub(r"^    ", "", block, flags=re.MULTILINE))
        for span in _INLINE.findall(_INDENTED.sub("", text)):
            line = " ".join(span.split())
            if line.startswith(tuple(f"{program} " for program in PROGRAMS)):
                yield from (Command(page, words, inline=True) for words in _parts(line))
    for file in _files(root, COMMENTED):
        for block in _COMMENTED.findall((root / file).read_text(encoding="utf-8")):
            yield from _lines(file, re.sub(r"^# +", "", block, flags=re.MULTILINE))


def _files(root: Path, patterns: tuple[str, ...]) -> list[str]:
    return sorted(str(path.relative_to(root)) for pattern in patterns for path in root.glob(pattern))


def _lines(page: str, text: str) -> Iterator[Command]:
    lines = text.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):  # what follows is what the command prints
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    for line in filter(str.strip, lines):
        for words in _parts(line):
            yield Command(page, words)


def _parts(line: str) -> Iterator[tuple[str, ...]]:
    """Return the commands of a line that `&&` joins."""
    words = shlex.split(line, comments=True)
    while words:
        end = words.index("&&") if "&&" in words else len(words)
        yield tuple(words[:end])
        words = words[end + 1 :]
