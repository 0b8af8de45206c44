"""Step tracks as players read them."""

from annotation_app.recordings.schemas import StepMark
from annotation_app.recordings.webvtt import render_webvtt


def test_each_step_is_a_cue() -> None:
    marks = (StepMark(index=0, begins=0.5, ends=1.25), StepMark(index=7, begins=3661.0, ends=3662.5))
    assert render_webvtt(marks, {0: "click I <open> it & wait", 7: "two\n\nlines --> here"}) == (
        "WEBVTT\n\n"
        "1\n00:00:00.500 --> 00:00:01.250\nclick I &lt;open&gt; it &amp; wait\n\n"
        "8\n01:01:01.000 --> 01:01:02.500\ntwo lines --&gt; here\n"
    )


def test_a_cue_lasts_and_says_something() -> None:
    assert "00:00:01.000 --> 00:00:01.001\n-\n" in render_webvtt((StepMark(index=0, begins=1, ends=1),), {0: " "})


def test_without_steps_there_is_an_empty_track() -> None:
    assert render_webvtt((), {}) == "WEBVTT\n"
