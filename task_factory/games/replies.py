"""Reads the files of a game out of a model's reply.

Each file is a fenced block whose first line names it (```js page/rules.js), or the line above it; or the reply has one
JSON object {"files": {NAME: TEXT}}, in a fence or bare.
"""

import json
import re

from task_factory.games.faults import Fault
from task_factory.games.static_checks import FILES

FENCE = re.compile(
    r"^(?P<fence>`{3,})[ \t]*(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL
)
NAMED = re.compile(r"(?:^|[\s:=])[\"']?(?P<name>[\w./-]+\.(?:json|js))[\"']?\s*$")
HEADING = re.compile(r"^[#*`\s\d.)]*(?:File:?\s*)?[`*]*(?P<name>[\w./-]+\.(?:json|js))[`*:\s]*$", re.IGNORECASE)
"""A line above a block that names its file."""
MAX_REPLY = 200_000


class UnreadableReply(Exception):
    """A reply without the files of a game; `faults` says what is wrong."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


def read_reply(reply: str) -> dict[str, str]:
    """Every file of a game by its name. Raises UnreadableReply."""
    if len(reply) > MAX_REPLY:
        raise UnreadableReply([Fault("reply_unreadable", f"the reply has more than {MAX_REPLY} characters")])
    files, faults = _files_of(reply)
    if not faults and not files:
        opened = reply.count("```") % 2 == 1
        why = "a fenced block is not closed" if opened else "no fenced block names a file, as in ```js page/rules.js"
        faults = [Fault("reply_unreadable", why)]
    if not faults:
        faults = [Fault("files", f"{name} is missing") for name in FILES if name not in files]
        faults += [Fault("files", f"{name} is not a file of a game") for name in files if name not in FILES]
    if faults:
        raise UnreadableReply(faults)
    return {name: files[name] for name in FILES}


def _files_of(reply: str) -> tuple[dict[str, str], list[Fault]]:
    files, faults = dict[str, str](), list[Fault]()
    for block in FENCE.finditer(reply):
        above = reply[: block.start()].rstrip().rsplit("\n", 1)[-1]
        named = NAMED.search(block["info"]) or HEADING.match(above)
        if named is None:
            if '"files"' in block["body"]:
                return _json_files(block["body"])
            continue
        name = named["name"].removeprefix("./")
        if name in files:
            faults.append(Fault("reply_unreadable", f"{name} stands there twice"))
        files[name] = block["body"]
    if not files and reply.lstrip().startswith("{"):
        return _json_files(reply)
    return files, faults


def _json_files(text: str) -> tuple[dict[str, str], list[Fault]]:
    try:
        match json.loads(text):
            case {"files": dict(files)} if all(isinstance(one, str) for one in files.values()):
                return {str(name): str(one) for name, one in files.items()}, []
    except ValueError as error:
        return {}, [Fault("reply_unreadable", f"the JSON cannot be read: {error}")]
    return {}, [Fault("reply_unreadable", 'the JSON is not {"files": {NAME: TEXT}}')]


def write_files(files: dict[str, str], folder: str) -> str:
    """A reply with these files, as a model is asked for it."""
    blocks = (f"```{'json' if name.endswith('.json') else 'js'} {name}\n{text}```" for name, text in files.items())
    return f"{folder}\n\n" + "\n\n".join(blocks) + "\n"
