"""What curves in a grid of panels are called, and how they look."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from bocu.core import style
from bocu.pages.figures.results import CubeBranch, Results

Titles = dict[tuple[str, CubeBranch], str]
"""What is written for a branch of a problem."""


def titles_of(
    cubes: Mapping[str, Results], branches: Mapping[tuple[int, str], Sequence[CubeBranch]], given: Mapping[str, str]
) -> Titles:
    """Return what to write for every branch of every problem.

    Args:
        cubes: by problem.
        branches: by row and problem.
        given: what is written for an algorithm, or for `algorithm/objective`, in place of its title.
    """
    # In the order of the experiment's algorithms, which is that of the legend.
    place = {label: i for i, label in enumerate(dict.fromkeys(a for cube in cubes.values() for a in cube.names))}
    # Where one algorithm stands with several objectives in one panel, the objective tells its curves apart.
    counts = [Counter(branch.algorithm for branch in found) for found in branches.values()]
    several = {label for count in counts for label in count if count[label] > 1}
    titles: Titles = {}
    for (_, problem), found in branches.items():
        for branch in found:
            plain = given.get(branch.algorithm, cubes[problem].titles[branch.algorithm])
            pursued = cubes[problem].objective_titles[branch.objective]
            default = f"{plain}, {pursued}" if branch.algorithm in several else plain
            titles[problem, branch] = given.get(f"{branch.algorithm}/{branch.objective}", default)
    return dict(sorted(titles.items(), key=lambda item: place[item[0][1].algorithm]))


def told_apart(
    cubes: Mapping[str, Results], cells: Sequence[Sequence[Sequence[str]]], titles: Titles, given: Sequence[str]
) -> Titles:
    """Return titles in which problems that share a panel are told apart, in the order of the panel.

    Args:
        cubes: by problem.
        cells: the problems of every panel, row by row.
        titles: of the branches, by `titles_of`.
        given: what is written for the problems that share a panel, in their order, in place of their titles.
    """
    shared = [cell for line in cells for cell in line if len(cell) > 1]
    called = {
        problem: given[position] if position < len(given) else cubes[problem].title
        for cell in shared
        for position, problem in enumerate(cell)
        if problem in cubes
    }
    if not called:
        return dict(titles)
    several = len({title for (problem, _), title in titles.items() if problem in called}) > 1
    found = {
        (problem, branch): (f"{called[problem]}, {title}" if several else called[problem])
        if problem in called
        else title
        for (problem, branch), title in titles.items()
    }
    place = {name: position for position, name in enumerate(dict.fromkeys(called.values()))}
    return dict(sorted(found.items(), key=lambda item: place.get(called.get(item[0][0], ""), len(place))))


def looks_of(cubes: Mapping[str, Results], titles: Titles) -> dict[str, style.Stroke]:
    """Return the look of every title: its algorithm's, or its own where an algorithm stands under several titles.

    What none of those is drawn in, a baseline's grey, stays also then.
    """
    owners: dict[str, set[str]] = {}
    for (problem, branch), title in titles.items():
        owners.setdefault(cubes[problem].names[branch.algorithm], set()).add(title)
    shared = any(len(found) > 1 for found in owners.values())
    looks: dict[str, style.Stroke] = {}
    numbers = itertools.count()
    for (problem, branch), title in titles.items():
        if title in looks:
            continue
        own = cubes[problem].looks[branch.algorithm]
        single = len(owners[cubes[problem].names[branch.algorithm]]) == 1
        keeps = not shared or (single and own.colour not in style.NUMBERED_COLOURS)
        looks[title] = own if keeps else style.numbered_stroke(next(numbers))
    return looks
