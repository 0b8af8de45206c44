"""A wiki as a ZIM file: the bundled invented country as pages with tables, packed by `zimwriterfs`."""

import subprocess
from collections.abc import Iterable
from html import escape
from pathlib import Path
from urllib.parse import quote

from PIL import Image

from vm_bridge.suites.questions.schema import Entity
from vm_bridge.suites.questions.wiki import Wiki

PROGRAMS = ("kiwix-serve", "zimwriterfs")
"""What a ZIM file needs here: Debian's packages kiwix-tools and zim-tools."""
EDITION = 77
PACK_SECONDS = 60.0


def write_pages(folder: Path, kinds: Iterable[str] = ("person", "town", "company"), language: str = "en") -> int:
    """Write pages of these kinds with their first page into a folder; gives how many there are. Links to pages of other
    kinds are words."""
    wiki, wanted = Wiki(EDITION), frozenset(kinds)
    entities = [one for one in wiki.entities.values() if one.kind in wanted]
    (folder / "wiki").mkdir(parents=True)
    for one in entities:
        (folder / "wiki" / f"{one.title}.html").write_text(_article(wiki, one, wanted, language), encoding="utf-8")
    links = "".join(f'<li><a href="{quote(f"wiki/{one.title}.html")}">{one.title}</a></li>' for one in entities)
    (folder / "index.html").write_text(_page("Country Wiki", f"<ul>{links}</ul>", language), encoding="utf-8")
    Image.new("RGB", (48, 48), "#3060a0").save(folder / "icon.png")
    return len(entities)


def pack_zim(folder: Path, file: Path, *, full_text: bool = True, language: str = "eng") -> None:
    """Pack a folder into a ZIM file. Raises CalledProcessError, FileNotFoundError where the program is missing."""
    about = {"welcome": "index.html", "illustration": "icon.png", "language": language, "title": "Country Wiki"}
    about |= {
        "description": "An invented country",
        "creator": "Pilothouse",
        "publisher": "Pilothouse",
        "name": "country",
    }
    words = [f"--{name}={value}" for name, value in about.items()]
    words += [] if full_text else ["--withoutFTIndex"]
    subprocess.run(
        ["zimwriterfs", *words, str(folder), str(file)], check=True, capture_output=True, timeout=PACK_SECONDS
    )


def _article(wiki: Wiki, entity: Entity, kinds: frozenset[str], language: str) -> str:
    kind = wiki.kinds[entity.kind]
    rows = [(name.capitalize(), str(value)) for name, value in entity.facts.items()]
    for name, other_id in entity.links.items():
        other = wiki.entities[other_id]
        text = escape(other.title)
        link = f'<a href="{quote(f"{other.title}.html")}">{text}</a>' if other.kind in kinds else text
        rows.append((name.capitalize(), link))
    table = "".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in rows)
    lead = f"<p><b>{escape(entity.title)}</b> is {kind.noun} of the country that this wiki is about.</p>"
    return _page(entity.title, f'<table class="infobox">{table}</table>{lead}', language)


def _page(title: str, body: str, language: str) -> str:
    named = escape(title)
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{named}</title></head>'
        f"<body><h1>{named}</h1>{body}</body></html>\n"
    )
