"""Frames on change, and what keys mean."""

import pytest

from recorder.pilothouse_recorder.frames import FrameFilter, FramePacer, encode_frame
from recorder.pilothouse_recorder.keysyms import (
    CONTROL,
    GROUP2,
    LEVEL3,
    LOCK,
    NUM_LOCK,
    SHIFT,
    SUPER,
    DeadKeys,
    character,
    keysym_of,
)
from recorder.pilothouse_recorder.x11.inputs import RawInput
from recorder.pilothouse_recorder.x11.interpreter import KEY_PRESS, hotkey_of

A_KEY = (ord("a"), ord("A"), 0x010003B1, 0x01000391, 0xE6, 0xC6)
DIGIT = (ord("1"), ord("!"))
PAD = (0xFF9C, 0xFFB1)


def test_the_last_change_gets_a_frame_and_no_rate_is_exceeded() -> None:
    pacer = FramePacer(200)
    assert pacer.due(0)
    pacer.take(0)
    assert not pacer.due(1_000)
    pacer.damage(100)
    pacer.damage(150)
    assert not pacer.due(199)
    assert pacer.due(200)
    assert pacer.take(200) == 100


def test_equal_pictures_are_one_frame() -> None:
    frames = FrameFilter()
    assert frames.new_picture(memoryview(b"same"))
    assert frames.new_picture(memoryview(bytearray(b"same"))) is None
    assert frames.new_picture(memoryview(b"else"))
    frames.reset()
    assert frames.new_picture(memoryview(b"else"))


def test_a_frame_is_a_jpeg_named_by_its_bytes() -> None:
    frame = encode_frame(bytes((0, 0, 255, 0)) * 64, 8, 8)
    assert frame.jpeg.startswith(b"\xff\xd8")
    assert (len(frame.sha256), frame.width, frame.height) == (64, 8, 8)


@pytest.mark.parametrize(
    ("mapping", "state", "char"),
    [
        (A_KEY, 0, "a"),
        (A_KEY, SHIFT, "A"),
        (A_KEY, LOCK, "A"),
        (A_KEY, LOCK | SHIFT, "a"),
        (A_KEY, GROUP2, "α"),
        (A_KEY, LEVEL3, "æ"),
        (A_KEY, LEVEL3 | SHIFT, "Æ"),
        (DIGIT, LOCK, "1"),
        (DIGIT, SHIFT, "!"),
        (PAD, 0, ""),
        (PAD, NUM_LOCK, "1"),
        ((0x20AC,), SHIFT, "€"),
        ((0x010065E5,), 0, "日"),
        ((), 0, ""),
    ],
)
def test_characters_of_keys(mapping: tuple[int, ...], state: int, char: str) -> None:
    assert character(keysym_of(mapping, state)) == char


def test_a_dead_key_changes_the_letter_after_it() -> None:
    keys = DeadKeys()
    assert [keys.text_of(keysym) for keysym in (0xFE57, ord("u"), ord("u"))] == ["", "ü", "u"]


def test_hotkeys_need_all_their_keys() -> None:
    held = RawInput(KEY_PRESS, 41, 0, 0, 0, CONTROL | SHIFT | SUPER)
    assert hotkey_of(held, (ord("f"), ord("F"))) == "forget"
    assert hotkey_of(held, (ord("x"), ord("X"))) is None
    assert hotkey_of(RawInput(KEY_PRESS, 41, 0, 0, 0, CONTROL | SHIFT), (ord("f"), ord("F"))) is None
