#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox"]
# ///
"""The tests of the first tier under each version of Python and Snakemake that is promised: `nox --list`."""

from pathlib import Path

import nox

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|virtualenv"

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SNAKEMAKES = ("9.25", "9.26", "9.27")  # the last three minor versions, for which the warm executor is made


@nox.session(python=False)
def check(session: nox.Session) -> None:
    """Run the linters and the type checker, as `make check`."""
    session.run("make", "check", external=True)


@nox.session(python=PYTHONS, default=False)
@nox.parametrize("snakemake", SNAKEMAKES)
def tests(session: nox.Session, snakemake: str) -> None:
    """Run the tests, with the versions of requirements.txt but for Snakemake's."""
    lines = Path("requirements.txt").read_text(encoding="utf-8").splitlines()
    torch, *others = (line for line in lines if line and not line.startswith(("#", "snakemake==")))
    session.install(torch)  # first: asked for as a range, it would bring gigabytes for graphics cards
    session.install(*others, f"snakemake~={snakemake}.0")
    session.install("--no-deps", "--editable", ".")
    session.run("python", "-m", "pytest", "--numprocesses", "auto", *session.posargs)


if __name__ == "__main__":
    nox.main()
