"""A reply says only what is certain, and ends where it should."""

from collections.abc import Iterable

from tests.unit.protocol.examples import spans
from trainer.serve.replies import Delta, Reply
from trainer.serve.schemas import Sampling

END = 258


def reply(**given: object) -> Reply:
    sampling = Sampling.model_validate({"seed": 0, **given})
    return Reply(0, sampling, room=sampling.max_tokens or 100, ends=frozenset({END}), decode=spelt)


def spelt(ids: list[int]) -> str:
    return bytes(token for token in ids if token < 256).decode(errors="replace")


def make_deltas(made: Reply, tokens: Iterable[int], version: str = "one") -> list[Delta]:
    deltas = []
    for token in tokens:
        deltas.append(made.add(token, -1.0, version))
        if made.finish:
            break
    return deltas


def test_text_comes_as_it_is_certain() -> None:
    deltas = make_deltas(reply(), "né!".encode())
    assert [delta.text for delta in deltas] == ["n", "", "é", "!"]
    assert [delta.ids for delta in deltas] == [(token,) for token in "né!".encode()]


def test_what_never_becomes_a_character_is_told_all_the_same() -> None:
    deltas = make_deltas(reply(max_tokens=20), [0xFF] * 20)
    assert "".join(delta.text for delta in deltas) == "\ufffd" * 20
    assert deltas[-1].finish == "length"


def test_an_end_ends_and_is_not_text() -> None:
    deltas = make_deltas(reply(), [*b"ok", END, *b"more"])
    assert "".join(delta.text for delta in deltas) == "ok"
    assert deltas[-1].finish == "stop"
    assert deltas[-1].ids == (END,), "it was drawn, so a trainer must see it"
    assert make_deltas(reply(ignore_eos=True), [*b"ok", END, *b"more"])[-1].finish is None


def test_a_stop_is_cut_off_even_where_tokens_share_it() -> None:
    deltas = make_deltas(reply(stop="</a>"), b"x < y</a>z")
    assert "".join(delta.text for delta in deltas) == "x < y"
    assert deltas[-1].finish == "stop"
    kept = make_deltas(reply(stop=["</a>"], max_tokens=5), b"x </b")
    assert "".join(delta.text for delta in kept) == "x </b", "what turned out to be none is told"


def test_versions_are_counted_by_token() -> None:
    made = reply(max_tokens=4)
    make_deltas(made, b"ab", "one")
    assert make_deltas(made, b"cd", "two")[-1].versions == spans(one=2, two=2)


def test_an_abort_tells_what_was_held_back() -> None:
    made = reply(stop="END")
    make_deltas(made, b"xEN")
    last = made.abort()
    assert (last.text, last.finish, last.ids) == ("EN", "abort", ())
