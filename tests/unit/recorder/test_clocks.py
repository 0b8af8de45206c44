"""The X server's times on the monotonic time line, with their error."""

from hypothesis import given
from hypothesis import strategies as st

from recorder.pilothouse_recorder.clocks import MS, SECOND, WRAP, ClockSample, ServerClock

START = 5_000 * MS
MILLISECONDS = st.integers(0, 10_000)


def sample(true_ns: int, offset_ns: int, early_ns: int, late_ns: int) -> ClockSample:
    """What a question at `true_ns` gives where the server's clock is `offset_ns` behind."""
    return ClockSample(true_ns - early_ns, (true_ns - offset_ns) // MS % WRAP, true_ns + late_ns)


@given(
    offset=st.integers(-(2**40), 2**40),
    delays=st.lists(st.tuples(st.integers(0, 20 * MS), st.integers(0, 20 * MS)), min_size=1, max_size=8),
    event=MILLISECONDS,
)
def test_the_true_time_is_within_the_stated_error(offset: int, delays: list[tuple[int, int]], event: int) -> None:
    samples = [sample(START + place * 10 * MS, offset, *delay) for place, delay in enumerate(delays)]
    clock = ServerClock(samples[0])
    assert all(clock.add(one) for one in samples[1:])
    true = START + event * MS + 7
    instant = clock.at((true - offset) // MS % WRAP)
    assert abs(instant.t_ns - true) <= instant.error_ns
    assert instant.error_ns <= MS + max(map(sum, delays))


def test_more_samples_narrow_the_error() -> None:
    clock = ServerClock(sample(START, 0, 8 * MS, 8 * MS))
    wide = clock.error_ns
    clock.add(sample(START + 10 * MS, 0, 0, MS))
    assert clock.error_ns < wide


def test_a_start_on_a_busy_machine_takes_samples_until_the_error_is_small() -> None:
    slow = [sample(START + place * SECOND, 0, 90 * MS, 90 * MS) for place in range(3)]
    samples = iter([*slow, sample(START + 3 * SECOND, 0, 0, MS // 2), *slow])
    clock = ServerClock(next(samples))
    clock.add_until(lambda: next(samples), 2 * MS, 10)
    assert clock.error_ns <= 2 * MS
    assert len(list(samples)) == 3, "none is taken after a good one"
    clock = ServerClock(slow[0])
    clock.add_until(lambda: slow[1], 2 * MS, 3)
    assert clock.error_ns > 2 * MS, "where none is good the error is stated"


def test_events_keep_their_order_when_a_sample_moves_the_mapping_back() -> None:
    clock = ServerClock(sample(START, 0, 0, 8 * MS))
    event = START // MS + 20
    first = clock.at(event)
    clock.add(sample(START + 10 * MS, 0, 0, MS))
    second = clock.at(event)
    assert second.t_ns == first.t_ns
    assert second.t_ns - second.error_ns <= event * MS <= second.t_ns + second.error_ns
    assert clock.at(event + 20).error_ns < second.error_ns


def test_a_server_clock_that_was_set_is_mapped_from_its_new_sample() -> None:
    clock = ServerClock(sample(START, 0, 0, MS))
    assert not clock.add(sample(START + MS, 3_600_000 * MS, 0, MS))
    moved = clock.at((START + 2 * MS - 3_600_000 * MS) // MS % WRAP)
    assert abs(moved.t_ns - (START + 2 * MS)) <= moved.error_ns


def test_the_wrap_of_the_servers_clock_is_no_jump() -> None:
    before_wrap = ClockSample(START, WRAP - 10, START)
    clock = ServerClock(before_wrap)
    before = clock.at(WRAP - 10).t_ns
    assert clock.at(5).t_ns - before == 15 * MS
