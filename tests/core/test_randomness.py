import numpy as np

from bocu.core.randomness import STREAMS, Streams


def draws(seed):
    streams = Streams(seed)
    return {name: streams[name].standard_normal(4) for name in STREAMS}


def test_same_seed_gives_the_same_streams():
    first, second = draws(7), draws(7)
    assert all(np.array_equal(first[name], second[name]) for name in STREAMS)


def test_streams_of_one_seed_and_of_neighbouring_seeds_all_differ():
    values = [value.tobytes() for seed in range(20) for value in draws(seed).values()]
    assert len(set(values)) == len(values)


def test_a_stream_does_not_depend_on_the_use_of_others():
    quiet, busy = Streams(3), Streams(3)
    for name in STREAMS[1:]:
        busy[name].standard_normal(1000)
    assert np.array_equal(quiet[STREAMS[0]].standard_normal(5), busy[STREAMS[0]].standard_normal(5))


def test_state_restores_every_stream():
    streams = Streams(1)
    streams["noise"].standard_normal(3)
    state = streams.state()
    wanted = {name: streams[name].standard_normal(3) for name in STREAMS}
    other = Streams(99)
    other.restore(state)
    assert all(np.array_equal(other[name].standard_normal(3), wanted[name]) for name in STREAMS)


def test_first_draws_never_change():
    # A frozen value: were it to change, every published result would.
    assert Streams(0)["noise"].integers(0, 2**32, 3).tolist() == [2655200790, 1724781571, 2601486034]
