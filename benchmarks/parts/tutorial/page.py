"""The shell blocks of a page, in order, with what an HTML comment before each says of it."""

import re
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(
    r"(?:^<!-- (?P<kind>background, until|prints): (?P<text>.+?) -->\n)?^```sh\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of shell that are given at once."""

    body: str
    line: int
    """Where the page has it, from 1."""
    ready: str = ""
    """In a terminal of its own, where it runs on; what it prints once it is ready. Empty: it ends by itself."""
    prints: str = ""
    """What its output must hold."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Its commands, a line each."""
        return tuple(line for line in self.body.splitlines() if line.strip() and not line.startswith("#"))


def read_blocks(page: Path) -> tuple[Block, ...]:
    """All blocks of a page that are marked as `sh`."""
    text = page.read_text()
    blocks = []
    for found in BLOCK.finditer(text):
        said = {found["kind"]: found["text"]} if found["kind"] else {}
        line = text.count("\n", 0, found.start()) + 1
        blocks.append(
            Block(found["body"], line, ready=said.get("background, until", ""), prints=said.get("prints", ""))
        )
    return tuple(blocks)
