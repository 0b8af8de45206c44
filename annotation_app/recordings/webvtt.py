"""A part's steps as WebVTT, for generic video players."""

from collections.abc import Iterable, Mapping

from annotation_app.recordings.schemas import StepMark

MIN_CUE_SECONDS = 0.001


def render_webvtt(marks: Iterable[StepMark], titles: Mapping[int, str]) -> str:
    """One cue per step, named by its number, from its start to its end."""
    cues = [
        f"{mark.index + 1}\n{_format_timestamp(mark.begins)} --> "
        f"{_format_timestamp(max(mark.ends, mark.begins + MIN_CUE_SECONDS))}\n"
        f"{_escape_title(titles[mark.index])}\n"
        for mark in marks
    ]
    return "\n".join(["WEBVTT\n", *cues])


def _format_timestamp(seconds: float) -> str:
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    minutes, second = divmod(whole, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}.{milliseconds:03}"


def _escape_title(title: str) -> str:
    """The title on one line, without anything that a player interprets as markup."""
    plain = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(plain.split()) or "-"
