"""An algorithm that says no state of its own is put back bit for bit, through a real checkpoint."""

import random
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from finite_games import announce, described, play, start
from grids import specification
from played import finished, numbers

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.rounds import Round
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.algorithms.plain_state import needs_telling, plain_state, put_back, when_told
from bocu.learners.surrogates.grid import GridPosterior
from bocu.sweep.runs.checkpoints import CheckpointStore
from bocu.sweep.runs.seed_run import SeedRun, build_problem


class Nothing(Parameters):
    """Nothing to set."""


class Bare(Algorithm):
    """Attributes are put on it from outside."""

    about = About(title="Bare", summary="made for tests")
    protocols = ("general",)
    Parameters = Nothing

    def ask(self, round):
        return 0

    def tell(self, decision, context, value):
        pass

    def recommend(self):
        return 0


def bare(**attributes):
    made = Bare(described(), None, Nothing(), np.random.default_rng(0))
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def saved(folder, state):
    store = CheckpointStore(folder, "id")
    store.save({"algorithm": state})
    return CheckpointStore(folder, "id").load()["algorithm"]


def back(folder, algorithm, **there):
    fresh = bare(**there)
    fresh.restore(saved(folder, algorithm.state()))
    return fresh


@pytest.mark.parametrize(
    "value",
    [
        True,
        3,
        -0.0,
        float("inf"),
        "text",
        None,
        2**100,
        np.float32(0.1),
        np.int8(3),
        np.bool_(True),
        [1, [2.5, "a"]],
        (1, (2, None)),
        {1: "a", (2, "b"): [3]},
        {"__array__": "a0", "plain": 1},
    ],
    ids=repr,
)
def test_a_plain_value_comes_back_as_what_it_was(tmp_path, value):
    found = back(tmp_path, bare(kept=value)).kept
    assert found == value
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24).reshape(2, 3, 4)[:, ::2, 1],
        np.arange(5.0)[::-1],
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.array(1.5),
        np.empty((0, 2)),
        np.array(["a", "bc"]),
    ],
    ids=["rows", "columns", "slices", "backwards", "repeated", "one number", "empty", "texts"],
)
def test_an_array_comes_back_with_its_layout(tmp_path, array):
    found = back(tmp_path, bare(kept=array)).kept
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()
    assert found.strides == array.strides or not array.size


def test_queues_rounds_and_tensors_come_back(tmp_path):
    round_ = Round(3, np.array([0, 2]), np.array([0.5, 0.5]), 0.1)
    found = back(tmp_path, bare(last=deque([1, 2], 2), round_=round_, x=torch.arange(4.0, dtype=torch.float32)))
    assert found.last == deque([1, 2])
    assert found.last.maxlen == 2
    assert (found.round_.t, found.round_.epsilon, found.round_.weights) == (3, 0.1, None)
    assert found.round_.reference.tolist() == [0.5, 0.5]
    assert found.x.dtype == torch.float32
    assert found.x.tolist() == [0.0, 1.0, 2.0, 3.0]


GENERATORS = {
    "pcg64": lambda: np.random.default_rng(3),
    "child": lambda: np.random.default_rng(3).spawn(2)[1],
    "philox": lambda: np.random.Generator(np.random.Philox(3)),
    "mt19937": lambda: np.random.Generator(np.random.MT19937(3)),
    "legacy": lambda: np.random.RandomState(3),
    "python": lambda: random.Random(3),
}


@pytest.mark.parametrize("kind", GENERATORS)
def test_a_generator_goes_on_where_it_stood(tmp_path, kind):
    generator = GENERATORS[kind]()

    def draw(found):
        return found.random() if kind == "python" else found.normal(size=3).tolist()

    draw(generator)
    found = back(tmp_path, bare(kept=generator)).kept
    assert [draw(found) for _ in range(3)] == [draw(generator) for _ in range(3)]
    if isinstance(generator, np.random.Generator):
        assert found.spawn(1)[0].random() == generator.spawn(1)[0].random()


def test_a_generator_of_torch_goes_on_where_it_stood(tmp_path):
    generator = torch.Generator().manual_seed(3)
    torch.rand(2, generator=generator)
    found = back(tmp_path, bare(kept=generator)).kept
    assert torch.rand(4, generator=found).tolist() == torch.rand(4, generator=generator).tolist()


def test_what_was_one_object_is_one_again(tmp_path):
    history = [np.zeros(2)]
    found = back(tmp_path, bare(history=history, last=history[0], same=history))
    assert found.same is found.history
    assert found.last is found.history[0]


def test_what_is_handed_in_is_not_kept_but_found_again(tmp_path):
    made = bare()
    made.points, made.drawing = made.description.decisions, made.generator
    state = saved(tmp_path, made.state())
    assert state["plain"] == {"points": ["given", "description.decisions"], "drawing": ["given", "generator"]}
    fresh = bare()
    fresh.restore(state)
    assert fresh.points is fresh.description.decisions
    assert fresh.drawing is fresh.generator


def test_a_state_is_not_changed_by_what_is_done_later():
    made = bare(counts=np.zeros(3), seen=[])
    state = made.state()
    made.counts += 1.0
    made.seen.append(1)
    for _ in range(2):
        made.restore(state)
        assert made.counts.tolist() == [0.0, 0.0, 0.0]
        assert made.seen == []
        made.counts += 1.0
        made.seen.append(1)


def test_an_object_with_a_state_of_its_own_is_asked_for_it(tmp_path):
    posterior = GridPosterior(described().model)
    posterior.add(2, 1, 0.4)
    found = back(tmp_path, bare(posterior=posterior), posterior=GridPosterior(described().model)).posterior
    assert found.mean().tobytes() == posterior.mean().tobytes()
    with pytest.raises(BocuError, match=r"^Bare: posterior: nothing with `restore` stands there"):
        back(tmp_path, bare(posterior=posterior))


WHOLE = np.arange(6.0)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (SimpleNamespace(x=1), "types.SimpleNamespace"),
        ([{"deep": lambda: 0}], "builtins.function"),
        (np.array([{}]), "numpy.ndarray"),
        ({1, 2}, "builtins.set"),
        (torch.ones(2, dtype=torch.bfloat16), "a tensor of torch.bfloat16"),
        ([WHOLE, WHOLE[2:]], "shares its memory with another array"),
    ],
    ids=["object", "function", "objects", "set", "bfloat16", "views"],
)
def test_what_is_not_plain_is_named_and_never_put_back_alone(tmp_path, value, words):
    made = bare(kept=value, count=2)
    state = saved(tmp_path, made.state())
    assert state["told_again"] == {"kept": words}
    assert needs_telling(state)
    with pytest.raises(BocuError, match=r"^Bare: its state cannot be put back alone.*kept \(" + words):
        bare().restore(state)
    fresh = bare(kept="told again")
    put_back(fresh, when_told(state))
    assert (fresh.kept, fresh.count) == ("told again", 2)


@pytest.mark.parametrize(("algorithm", "told"), [("Plain", 0), ("Modelled", 13)])
def test_a_run_goes_on_to_the_same_bits_and_what_is_not_plain_is_told_again(tmp_path, algorithm, told):
    specified = specification(30, (0, 1), f"outsiders:{algorithm}")
    problem = build_problem(specified["problem"], {})
    run, fresh = (SeedRun(specified, problem, 0) for _ in range(2))
    for _ in range(13):
        run.play()
    heard, learn = [], fresh.algorithm.tell
    fresh.algorithm.tell = lambda *words: (heard.append(words), learn(*words))
    fresh.restore(saved(tmp_path, run.state()))
    assert len(heard) == told
    assert numbers(finished(fresh)) == numbers(finished(run))


def test_a_checkpoint_refuses_what_it_would_have_to_pickle(tmp_path):
    for content, said in (
        ({"a": {"b": [0, SimpleNamespace()]}}, r"^checkpoint: a\.b\.1: found types\.SimpleNamespace"),
        ({"a": np.array([None])}, r"^checkpoint: a: found numpy\.ndarray"),
        ({"a": {1: 2}}, r"^checkpoint: a key of a: found builtins\.int"),
    ):
        with pytest.raises(BocuError, match=said):
            CheckpointStore(tmp_path, "id").save(content)
    assert not list(tmp_path.iterdir())


def test_our_own_without_a_state_of_their_own_go_on_as_if_nothing_was(tmp_path):
    drawing = start("random")
    play(drawing, 5)
    other = start("random", data=())
    other.restore(saved(tmp_path, drawing.state()))
    other.generator.bit_generator.state = drawing.generator.bit_generator.state
    assert play(other, 10) == play(drawing, 10)
    assert other.recommend() == drawing.recommend()
    constant = start("constant", decision=3)
    constant.restore(saved(tmp_path, plain_state(constant)))
    assert constant.ask(announce()) == 3
