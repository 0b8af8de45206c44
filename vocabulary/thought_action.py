"""Turns of the form `Thought: …`, `Action: function(argument='value')`: what most UI-TARS models write.

A step whose action the family cannot say (a command run in the terminal, a gesture, a triple click) stands in the
history as a turn of words, `Thought: …` and `Action_Summary: …`, with points in the family's own grid. It is no
call, so that no model learns to write one that its grammar lacks.
"""

from dataclasses import dataclass

from vocabulary.actions import Action
from vocabulary.calls import Unreadable, write_call
from vocabulary.dialect import Screen
from vocabulary.families import Reading
from vocabulary.functions import read_action
from vocabulary.grids import Grid
from vocabulary.replies import split_reply, write_reply
from vocabulary.styles import Style, write_action


@dataclass(frozen=True)
class ThoughtAction:
    """The writing of a family that names points in this style; see `vocabulary.families.Writing`."""

    style: Style

    @property
    def grid(self) -> Grid:
        return self.style.grid

    def write(self, thought: str, action: Action, screen: Screen) -> str:
        return write_reply(thought, write_call(write_action(action, screen, self.style)))

    def tell(self, thought: str, summary: str) -> str:
        return f"Thought: {thought}\nAction_Summary: {summary}"

    def read(self, text: str, screen: Screen) -> Reading:
        thought, action_text, call = split_reply(text)
        try:
            if isinstance(call, Unreadable):
                raise call
            return Reading(thought, action_text, read_action(call, screen, self.style.grid))
        except Unreadable as unreadable:
            return Reading(thought, action_text, unreadable)
