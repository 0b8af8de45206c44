"""Shell blocks of the documentation: which are run as written, by what, and why others are not.

`docs/shell-blocks.toml` lists the blocks that this benchmark runs, and reasons by pattern for those that nothing runs.
A block of a tutorial is run by `./pilothouse bench tutorial`.
"""

import re
import subprocess
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.documents.markdown import code_blocks

LIST = Path("docs", "shell-blocks.toml")
COMMAND = re.compile(
    r"(?:\w+=(?:'[^']*'|\"[^\"]*\"|\S*)[ ;]+)*"
    r"(?:\./pilothouse|pilothouse(?:-recorder)?(?= \S)|\S*python3?|\"?\$\w+\"?|pipx?|vllm|torchrun"
    r"|docker\S*|cp|git|echo|export \w+=)"
    r"(?:\s|$)"
)
"""What the first line of a shell block begins with: assignments, and a program."""
TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class ShellBlock:
    """A block of commands on a page."""

    page: str
    text: str

    @property
    def first_line(self) -> str:
        """Its first line."""
        return self.text.splitlines()[0]


@dataclass(frozen=True, slots=True)
class BlockList:
    """What `docs/shell-blocks.toml` says."""

    run: tuple[str, ...]
    """Blocks that the benchmark runs, as a page has them."""
    reasons: Mapping[str, str]
    """By pattern, why a block is not run. The first pattern that is found counts."""

    def reason(self, block: ShellBlock) -> str:
        """Why a block is not run; empty where no pattern is found in it."""
        return next((why for pattern, why in self.reasons.items() if re.search(pattern, block.text)), "")


@dataclass(frozen=True, slots=True)
class SortedBlocks:
    """All shell blocks by what becomes of them."""

    tutorial: tuple[ShellBlock, ...]
    here: tuple[ShellBlock, ...]
    not_run: tuple[tuple[ShellBlock, str], ...]
    """With the reason, which is empty where the list has none."""


def shell_blocks(pages: Mapping[str, str]) -> Iterator[ShellBlock]:
    """The shell blocks of pages, in order. A block is one by its first line that is no comment."""
    for page, text in pages.items():
        for block in code_blocks(text):
            lines = [line.strip() for line in block.splitlines() if line.strip() and not line.strip().startswith("#")]
            if lines and COMMAND.match(lines[0]):
                yield ShellBlock(page, "\n".join(line.removeprefix("    ") for line in block.splitlines()).strip())


def read_list(root: Path) -> BlockList:
    """Read the list. Raises KeyError or TOMLDecodeError where it is malformed."""
    data = tomllib.loads((root / LIST).read_text())
    return BlockList(tuple(one.strip() for one in data["run"]), {one["pattern"]: one["why"] for one in data["not_run"]})


def sort_blocks(blocks: Collection[ShellBlock], listed: BlockList, tutorials: Collection[str]) -> SortedBlocks:
    """Each block by what becomes of it; `tutorials` are the pages whose blocks `bench tutorial` runs."""
    tutorial = tuple(one for one in blocks if one.page in tutorials)
    rest = [one for one in blocks if one.page not in tutorials]
    here = tuple(one for one in rest if one.text in listed.run)
    others = tuple((one, listed.reason(one)) for one in rest if one.text not in listed.run)
    return SortedBlocks(tutorial, here, others)


def run_block(block: ShellBlock, root: Path) -> str:
    """Run a block as it is written; gives what is wrong, empty where it ended well."""
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text],
            cwd=root, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"took longer than {TIMEOUT_SECONDS:.0f} s"
    return f"ended with {done.returncode}: {done.stderr[-500:]}" if done.returncode else ""
