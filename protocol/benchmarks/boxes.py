"""Boxes on a screen, in the two notations of benchmarks."""

from typing import Any, Literal

from pydantic import Field

from protocol.base import FrozenModel

BoxFormat = Literal["xywh", "xyxy"]
"""Left, top, width, height; or left, top, right, bottom. Four numbers alone do not say which."""


class Box(FrozenModel):
    """A part of a screen, in pixels; `right` and `bottom` are just outside."""

    left: float = Field(ge=0)
    top: float = Field(ge=0)
    right: float = Field(ge=0)
    bottom: float = Field(ge=0)

    @classmethod
    def of(cls, values: list[Any], form: BoxFormat) -> "Box":
        """From four numbers of one format. Raises ValueError where they are no box."""
        if len(values) != 4 or not all(_is_number(value) for value in values):
            raise ValueError("a box is four numbers")
        left, top, third, fourth = map(float, values)
        right, bottom = (left + third, top + fourth) if form == "xywh" else (third, fourth)
        if right <= left or bottom <= top:
            raise ValueError(f"{values} is no box as {form}")
        return cls(left=left, top=top, right=right, bottom=bottom)

    def write(self, form: BoxFormat) -> list[float]:
        """Four numbers of one format."""
        third, fourth = self.right, self.bottom
        if form == "xywh":
            third, fourth = self.right - self.left, self.bottom - self.top
        return [self.left, self.top, third, fourth]

    @property
    def centre(self) -> tuple[int, int]:
        """The pixel in its middle."""
        return int((self.left + self.right) / 2), int((self.top + self.bottom) / 2)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def place_in_box(act: dict[str, Any]) -> dict[str, Any]:
    """An act that names a `box` and its `format` in place of `x` and `y`, at the middle of the box; any other as it is.

    Raises ValueError.
    """
    if "box" not in act:
        return act
    form, values = act.get("format"), act["box"]
    if form not in ("xywh", "xyxy") or not isinstance(values, list):
        raise ValueError("a box needs a format, xywh or xyxy")
    x, y = Box.of(values, form).centre
    return {**{name: value for name, value in act.items() if name not in ("box", "format")}, "x": x, "y": y}
