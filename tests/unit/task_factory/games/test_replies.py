"""Replies of models: files in fences or JSON, and what is said of those that cannot be read."""

import json

import pytest

from task_factory.games.replies import UnreadableReply, read_reply, write_files
from task_factory.games.static_checks import FILES

GOOD = {name: f"// {name}\n" for name in FILES}


def codes(reply: str) -> list[str]:
    with pytest.raises(UnreadableReply) as raised:
        read_reply(reply)
    return [fault.code for fault in raised.value.faults]


def test_files_come_in_fences_or_as_json() -> None:
    assert read_reply(write_files(GOOD, "Here it is.")) == GOOD
    assert read_reply(json.dumps({"files": GOOD})) == GOOD
    assert read_reply(f"Here:\n```json\n{json.dumps({'files': GOOD})}\n```\nDone.") == GOOD


@pytest.mark.parametrize(
    "block",
    [
        "```js file=page/rules.js",
        "```javascript ./page/rules.js",
        '```js title="page/rules.js"',
        "### `page/rules.js`\n\n```js",
        "**page/rules.js**:\n```javascript",
    ],
)
def test_a_fence_may_name_its_file_in_several_ways(block: str) -> None:
    reply = write_files(GOOD, "").replace("```js page/rules.js", block)
    assert read_reply(reply)["page/rules.js"] == GOOD["page/rules.js"]


def test_a_block_without_a_name_is_left_alone() -> None:
    assert read_reply("```js\nan example\n```\n" + write_files(GOOD, "")) == GOOD


def test_what_cannot_be_read_is_named() -> None:
    assert codes("") == ["reply_unreadable"]
    assert codes("I cannot write games.") == ["reply_unreadable"]
    assert codes("```js page/rules.js\nconst rules = {") == ["reply_unreadable"]
    assert codes('{"files": {"verifier.js": ') == ["reply_unreadable"]
    assert codes('{"files": {"verifier.js": 1}}') == ["reply_unreadable"]
    assert codes("x" * 200_001) == ["reply_unreadable"]
    whole = write_files(GOOD, "")
    assert codes(whole + whole) == ["reply_unreadable"] * len(FILES)


def test_files_that_are_missing_or_unknown_are_named() -> None:
    assert codes(write_files({**GOOD, "page/extra.js": ""}, "")) == ["files"]
    assert codes(write_files({"verifier.js": ""}, "")) == ["files"] * (len(FILES) - 1)
    assert codes(write_files({**GOOD, "../outside.js": ""}, "")) == ["files"]
