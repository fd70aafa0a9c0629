"""What README, docs and the comments of configuration files print: command lines and blocks of code."""

import importlib.util
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGES = ("README.md", "docs/*.md", "docs/developers/*.md", "data/*.md", "config/*.md")
COMMENTED = ("config/**/*.yaml", "profiles/*/config.yaml", "environment.yml")
PROGRAMS = (
    "bocu",
    "conda",
    "make",
    "pip",
    "python",
    "scancel",
    "snakedeploy",
    "snakemake",
    "sbatch",
    "squeue",
    ".ci/start-slurm",
)
# Packages that a block may ask for and the reader need not have.
OPTIONAL = ("ax", "gest_api", "optuna")
SHELL = ("", "bash", "console", "sh")
# The page whose commands need the files that its blocks say: tests/repository/test_extending.py performs it as a whole.
RECIPE = "docs/extending.md"
_FENCED = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n)+")
_INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_COMMENTED = re.compile(r"(?<=^#\n)(?:^#     .*\n)+", re.MULTILINE)
# Indented blocks that hold no commands, by how they begin.
NO_COMMANDS = ("data/<source>/", "results/<name>/", "seconds = ", "share = ", "rating of x ", "|sum of its e|")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        file: where the block says that it belongs; empty if it stands for itself.
    """

    page: str
    language: str
    text: str
    file: str = ""

    @property
    def of_recipe(self) -> bool:
        """Whether it is a step: a file to write or to change, or commands of the page that does so."""
        return bool(self.file) or (self.page == RECIPE and self.language == "bash")


def lacking(block: Block) -> list[str]:
    """Return the optional packages that a block of Python imports and that are not installed."""
    asked = re.findall(r"^(?:from|import) (\w+)", block.text, re.MULTILINE)
    return [name for name in OPTIONAL if name in asked and importlib.util.find_spec(name) is None]


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
    """Return the fenced blocks of all pages that stand for themselves; of all languages if none is given."""
    for block in _blocks(root):
        if not block.of_recipe and (not languages or block.language in languages):
            yield block


def steps(root: Path) -> list[Block]:
    """Return the blocks that are to be performed one after the other."""
    return [block for block in _blocks(root) if block.of_recipe]


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


def _blocks(root: Path) -> Iterator[Block]:
    for page in _files(root, PAGES):
        for language, file, text in _FENCED.findall((root / page).read_text(encoding="utf-8")):
            yield Block(page, language, text, file)


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
