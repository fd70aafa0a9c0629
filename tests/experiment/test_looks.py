"""How algorithms are written and drawn: unique, stable, stated by their classes."""

import itertools
from typing import get_args

import pytest

from bocu.core.about import About, Colour, Look, read_look
from bocu.core.errors import BocuError
from bocu.sweep.experiment.branches import Component
from bocu.sweep.experiment.looks import Named, abouts, algorithm_looks
from bocu.sweep.experiment.registry import REGISTRY, find, registered

OWN = About("Mine", "of a user's own")


def named(names):
    """Return label -> algorithm, given label -> registered name; what is not registered states no look."""
    known = REGISTRY["algorithm"]
    return {
        label: Named(name, find("algorithm", name).load().about if name in known else OWN)
        for label, name in names.items()
    }


def looks_of(names):
    return algorithm_looks(named(names))


def pairs(looks):
    return [(look.colour, look.dash) for look in looks]


def test_looks_that_classes_state_are_told_apart_and_kept():
    abouts = {entry.name: entry.load().about for entry in registered("algorithm")}
    stated = {name: about.look for name, about in abouts.items() if about.look is not None}
    assert len(set(pairs(stated.values()))) == len(stated)
    looks = looks_of({name: name for name in abouts})
    assert {name: looks[name] for name in stated} == stated


@pytest.mark.parametrize("kind", list(REGISTRY))
def test_every_class_tells_of_itself(kind):
    for entry in registered(kind):
        about = vars(entry.load()).get("about")
        assert isinstance(about, About), f"{entry.name} inherits what is told of another"
        assert about.title, entry.name
        assert about.summary, entry.name
        assert not about.line.endswith("."), entry.name
        others = {alias for alias, target in REGISTRY[kind].items() if target == entry.name}
        assert set(about.aliases) <= others, entry.name


def test_other_names_lead_to_the_class_and_all_lead_somewhere():
    assert find("algorithm", "drbo") == find("algorithm", "ucb-bocu-2")
    for names in REGISTRY.values():
        assert all(":" in target or target in names for target in names.values())
    with pytest.raises(BocuError, match=r"x: unknown algorithm 'pe-gp-ucp'; .*pe-gp-ucb"):
        find("algorithm", "pe-gp-ucp", "x: ")


def test_an_algorithm_looks_the_same_whatever_else_runs():
    names = {"random": "random", "pe-gp-ucb": "pe-gp-ucb", "mle": "mle", "own": "my-own-algorithm"}
    whole = looks_of(names)
    for size in (1, 2, 3):
        for subset in itertools.combinations(names, size):
            part = {label: names[label] for label in subset}
            assert looks_of(part) == {label: whole[label] for label in subset}


def test_variants_of_one_algorithm_share_its_colour_and_differ_in_dash():
    names = {"wide": "mle", "mle": "mle", "narrow": "mle"}
    looks = looks_of(names)
    assert looks["mle"] == find("algorithm", "mle").load().about.look
    assert {look.colour for look in looks.values()} == {looks["mle"].colour}
    assert len({look.dash for look in looks.values()}) == 3
    assert looks_of(dict(reversed(names.items()))) == looks


def test_no_two_of_an_experiment_look_alike():
    """Not a variant and another algorithm, not those that state the same look, not one of many that state none."""
    variants = looks_of({"stableopt-finite": "stableopt-finite", "wind": "stableopt-finite", "stableopt": "stableopt"})
    assert len(set(pairs(variants.values()))) == 3
    twin = About("Twin", "states the look of another", look=Look("blue", "dashed", "s"))
    twins = algorithm_looks({**named({"mle": "mle"}), "twin": Named("twin", twin), "other": Named("other", twin)})
    assert len(set(pairs(twins.values()))) == 3
    assert twins["mle"] == twin.look
    many = looks_of(
        {**{name: name for name in ("random", "mle", "oracle")}, **{f"a{i}": f"own-{i}" for i in range(39)}}
    )
    assert len(set(pairs(many.values()))) == len(many)
    more = looks_of({f"a{i}": f"own-{i}" for i in range(200)})
    assert len(set(more.values())) == len(more)
    with pytest.raises(BocuError, match="no line is left"):
        looks_of({f"a{i}": f"own-{i}" for i in range(300)})


def test_papers_spelling_goes_with_the_registered_name_and_its_aliases_and_labels_are_written_as_words():
    names = {"mle": "mle", "no-yaw": "mle", "mle-1": "mle", "drbo": "ucb-bocu-2", "ucb-so": "mle", "mine": "mine-too"}
    titles = {"mle": "MLE", "no-yaw": "No yaw", "mle-1": "MLE, 1", "drbo": "DRBO", "ucb-so": "Ucb so", "mine": "Mine"}
    assert {label: algorithm.title(label) for label, algorithm in named(names).items()} == titles


def test_lines_of_one_experiment_share_no_colour_while_there_are_colours():
    """Not variants of one class, as of a model; the class's own label keeps what the class states."""
    kinds = {name: find("algorithm", name) for name in ("sbo-kde", "mle", "ucb-bocu-2")}
    labels = {"joint": "sbo-kde", "sbo-kde": "sbo-kde", "se-se": "sbo-kde", "mle": "mle", "ucb-bocu-2": "ucb-bocu-2"}
    found = abouts({label: Component(label, kinds[name], None) for label, name in labels.items()})
    looks = {label: read_look(about["look"]) for label, about in found.items()}
    assert len({look.colour for look in looks.values()}) == len(labels)
    assert looks["sbo-kde"] == kinds["sbo-kde"].load().about.look
    many = abouts({f"v-{place}": Component(f"v-{place}", kinds["mle"], None) for place in range(30)})
    assert len({read_look(about["look"]).colour for about in many.values()}) == len(get_args(Colour))
    assert len({about["look"] for about in many.values()}) == 30
