"""Parse Markdown pages: headings, links and prose."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

FENCED = re.compile(r"^(?P<fence>```|~~~).*?^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|mailto:)(?P<target>[^)#\s]*)(?:#(?P<section>[^)\s]+))?\)")


@dataclass(frozen=True, order=True, slots=True)
class BrokenLink:
    """A broken link of a page; `target` is as written, with its section."""

    page: str
    target: str


def without_code_blocks(text: str) -> str:
    """The text without fenced code blocks."""
    return FENCED.sub("", text)


def headings(text: str) -> list[str]:
    """The headings of a page in order, outside of code blocks."""
    return [match[2].strip() for match in HEADING.finditer(without_code_blocks(text))]


def anchors(text: str) -> list[str]:
    """The anchor of each heading, in order, as GitHub makes it: a repeated heading gets `-1`, `-2`, …"""
    seen: Counter[str] = Counter()
    found = []
    for heading in headings(text):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.append(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def code_blocks(text: str) -> list[str]:
    """The code blocks in order: fenced ones, and runs of lines indented by four or more spaces."""
    blocks = [(match.start(), match[0].partition("\n")[2].rpartition("\n")[0]) for match in FENCED.finditer(text)]
    rest = FENCED.sub(lambda match: " " * len(match[0]), text)
    indented = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\S.*\n?|\n(?= {4}))+")
    for match in indented.finditer(rest):
        if not _in_list(rest, match.start()):
            blocks.append((match.start(), match[0].rstrip("\n")))
    return [block for _, block in sorted(blocks)]


def _in_list(text: str, place: int) -> bool:
    """Whether an indented line continues a list item in the lines before it."""
    for line in reversed(text[:place].splitlines()):
        if re.match(r"(?:[*+-]|\d+\.) ", line):
            return True
        if line.strip() and not line.startswith(" "):
            return False
    return False


def links(text: str) -> list[tuple[str, str]]:
    """Target and section of each link to a file or a heading; either may be empty. Web addresses are left out."""
    return [(match["target"], match["section"] or "") for match in LINK.finditer(without_code_blocks(text))]


def broken_links(pages: Mapping[str, str], others: frozenset[str] = frozenset()) -> list[BrokenLink]:
    """Links to missing files or missing headings.

    Args:
        pages: The text of each page by its path below the repository's root, with `/`.
        others: Paths of further files and folders that may be linked to.
    """
    known = {page: frozenset(anchors(text)) for page, text in pages.items()}
    found = []
    for page, text in pages.items():
        for target, section in links(text):
            path = resolve(page, target) if target else page
            exists = path in known or path in others
            if not exists or (section and section not in known.get(path, frozenset())):
                found.append(BrokenLink(page, f"{target}#{section}" if section else target))
    return sorted(found)


def resolve(page: str, target: str) -> str:
    """The path below the root that a link of `page` leads to. A leading `..` leads out of the repository."""
    parts: list[str] = []
    for part in (*PurePosixPath(page).parent.parts, *PurePosixPath(target).parts):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def paragraphs(text: str) -> Iterator[str]:
    """The prose of a page, one paragraph or list item per line.

    Code blocks, tables, headings, comments and raw HTML are left out. A link is its text. A piece of code is one word.
    """
    text = re.sub(r"<!--.*?-->", "", without_code_blocks(text), flags=re.DOTALL)
    lines: list[str] = []
    in_item = False
    for line in [*text.splitlines(), ""]:
        item = re.match(r"\s*(?:[*+-]|\d+\.) +", line)
        is_prose = bool(line.strip()) and not re.match(r"#{1,6} |\s*[|<]|>?\s*$|!\[", line)
        is_code = line.startswith("    ") and not lines and not in_item
        if lines and (item or not is_prose):
            yield _plain(" ".join(lines))
            lines = []
        if is_prose and not is_code:
            lines.append(line[item.end() :] if item else line.strip().removeprefix("> "))
        if line.strip():
            in_item = bool(item) or (in_item and line.startswith(" "))


def _plain(text: str) -> str:
    text = re.sub(r"`[^`]+`", "Code", text)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("*", "").strip()
