"""A command sent again is recognised, also by a release that knows more of commands."""

import hashlib
import json

from agent_backend.episode.command_digests import digest_of
from protocol.actions.types import Click
from protocol.messages.events import Act


def test_a_command_of_an_earlier_release_keeps_its_digest() -> None:
    act = Act(command_id="command-1", action=Click(x=1, y=2), thought="I open the menu.")
    earlier = act.model_dump(mode="json", exclude={"continued_characters"})
    assert digest_of(act) == hashlib.sha256(json.dumps(earlier, sort_keys=True).encode()).hexdigest()
    assert digest_of(act.model_copy(update={"continued_characters": 3})) != digest_of(act)
