"""Experiment files that are wrong, by kinds: for each the text, and what the one line about it must name."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from experiments import tiny

DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # hundreds of files, in each worker


@dataclass(frozen=True)
class Bad:
    """A wrong experiment file.

    Attributes:
        name: kind and what is wrong.
        content: of the file.
        says: what the line must hold.
    """

    name: str
    content: bytes
    says: tuple[str, ...]


def grid(**changes: Any) -> dict[str, Any]:
    """A grid of decisions and contexts, one objective."""
    experiment = tiny(
        iterations=2,
        problems=[{"name": "kirschner", "parameters": {"decision_points": [8], "context_points": [6]}}],
        objectives=[{"name": "dro", "parameters": {"set": {"name": "tv", "radius": 0.1}}}],
        algorithms=["random", "ucb-bocu-2"],
    )
    return {**experiment, **changes}


def box(**changes: Any) -> dict[str, Any]:
    """Continuous decisions and contexts."""
    return {**tiny(iterations=2, problems=["ackley"], algorithms=["random"]), **changes}


def scalarised(**changes: Any) -> dict[str, Any]:
    """Continuous decisions, a grid of contexts."""
    return {**tiny(iterations=2, problems=["ackley-grid"], algorithms=["random"]), **changes}


def wind(**changes: Any) -> dict[str, Any]:
    """Hourly rounds on simulated data."""
    return {**tiny(iterations=2, data="simulate", problems=["wind-commitment"], algorithms=["random"]), **changes}


def sensors(**changes: Any) -> dict[str, Any]:
    """Sensors on simulated data."""
    return {**tiny(iterations=2, data="simulate", problems=["sensors"], algorithms=["random"]), **changes}


def bad(name: str, experiment: Any, *says: str) -> Bad:
    return Bad(name, yaml.dump(experiment, Dumper=DUMPER, allow_unicode=True).encode(), says)


def raw(name: str, text: str | bytes, *says: str) -> Bad:
    return Bad(name, text.encode() if isinstance(text, str) else text, says)


def all_bad() -> list[Bad]:
    """Return all of them; two end at each place that refuses a file, where two ways lead to it."""
    return [*_stated(), *_encodings(), *_structure(), *_yaml_1_1(), *_duplicate_keys()]


def _stated() -> Iterator[Bad]:
    """Those of tests/data/bad_experiments.yaml: what they change of a good one, and what the line must hold."""
    goods = {"tiny": tiny, "grid": grid, "box": box, "scalarised": scalarised, "wind": wind, "sensors": sensors}
    for entry in yaml.safe_load((Path(__file__).parent / "data/bad_experiments.yaml").read_text(encoding="utf-8")):
        good = goods[entry["in"]]()
        kept = {key: value for key, value in good.items() if key not in entry.get("without", ())}
        yield bad(entry["name"], {**kept, **entry["change"]}, *entry["says"])


def _encodings() -> Iterator[Bad]:
    text = yaml.safe_dump(tiny(title="Übung"), allow_unicode=True)
    for encoding in ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp037"):
        yield raw(f"encodings: {encoding}", text.encode(encoding), "UTF-8")
    yield raw("encodings: a BOM and a fault", "﻿".encode() + yaml.safe_dump(tiny(iterations=0)).encode(), "iterations")
    yield raw("encodings: NUL", b"name: a\x00b\n", "")
    yield raw("encodings: control characters", b"name: a\x07b\n", "")
    yield raw("encodings: binary", bytes(range(256)) * 40, "")
    yield raw("encodings: a picture", b"\x89PNG\r\n\x1a\n" + bytes(100), "")
    yield raw("encodings: gzip", b"\x1f\x8b\x08\x00" + bytes(100), "")
    yield raw("encodings: a lone surrogate", yaml.safe_dump(tiny()) + 'title: "\\ud800"\niterationz: 3\n', "Unicode")


def _structure() -> Iterator[Bad]:
    good = yaml.safe_dump(tiny())
    for name, text in (
        ("empty", ""),
        ("a comment alone", "# nothing\n"),
        ("text", "just text"),
        ("open bracket", "a: [1"),
        ("tabs", "seeds:\n\tcount: 3\n"),
        ("two documents", f"{good}---\n{good}"),
        ("unknown alias", "name: *nothing\n"),
        ("a Python object", "name: !!python/object/apply:os.system [ls]\n"),
        ("a list as key", "? [1, 2]\n: 3\n"),
        ("itself", f"{good}papers: &p [*p]\n"),
        ("itself in a mapping", f"{good}papers: &p {{a: *p}}\n"),
        ("deep lists", f"papers: {'[' * 3000}{']' * 3000}\n"),
        ("very deep", "[" * 100_000),
        ("very deep, in a line", "- " * 100_000 + "a"),
        ("a number of 5,000 digits", f"{good}x: {'9' * 5000}\n"),
        ("a day that is none", "x: 2004-02-30\n"),
        ("merge of a number", "<<: 3\nname: a\n"),
    ):
        yield raw(f"structure: {name}", text)
    laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    laughs += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    yield raw("structure: a billion laughs", "\n".join(laughs), "values")
    problems = f"{yaml.safe_dump({k: v for k, v in tiny().items() if k != 'problems'})}" + "\n".join(
        line.replace("a0: ", "papers: ", 1) for line in laughs
    )
    yield raw("structure: laughs in an experiment", problems, "values")


def _yaml_1_1() -> Iterator[Bad]:
    """What YAML 1.1, by which Snakemake reads, takes for another thing than YAML 1.2 does."""
    good = yaml.safe_dump({key: value for key, value in tiny().items() if key not in ("iterations", "name")})
    for line, says in (
        ("iterations: 1:30", "iterations: found '1:30' in line "),
        (
            "iterations: 010",
            "YAML 1.1 takes it for 8, and YAML 1.2 does not; write 8 if that is meant, '010' in quotes",
        ),
        ("iterations: 1_0", "takes it for 10"),
        ("iterations: 0b11", "takes it for 3"),
        ("checkpoint_seconds: 1:30.5", "takes it for 90.5"),
        ("name: no", "name: found 'no' in line "),
        ("overwrite: yes", "write true"),
        ("papers: [ziomek2025, off]", "papers.1: found 'off'"),
        ("on: 3", "found 'on' in line "),
    ):
        yield raw(f"YAML 1.1: {line}", f"{good}\n{line}\n", says)
    yield raw("YAML 1.1: a zero byte", f'{good}name: "a\\0b"\n', "name: found 'a\\x00b' in line ", "no zero byte")


def _duplicate_keys() -> Iterator[Bad]:
    good = yaml.safe_dump(tiny())
    for name, text, key in (
        ("top level", f"{good}iterations: 3\n", "iterations"),
        ("nested", f"{good.replace('count: 4', 'count: 4' + chr(10) + '  count: 5')}", "count"),
        ("in parameters", "problems:\n- {name: hills, parameters: {grid: 60, grid: 70}}\n", "grid"),
        ("in a merged mapping", f"{good}x: &x {{a: 1, a: 2}}\n", "a"),
        ("two merges", f"{good}x: {{<<: {{a: 1}}, <<: {{b: 1}}}}\n", "<<"),
    ):
        yield raw(f"duplicate keys: {name}", text, "twice", key)
