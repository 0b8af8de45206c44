"""The site of a knowledge source: pages with links, lists of a kind, and a search over them all."""

from html import escape
from urllib.parse import parse_qs, quote_plus, urlsplit

from vm_bridge.browser import Request, Response
from vm_bridge.suites.questions.schema import Entity
from vm_bridge.suites.questions.wiki import Wiki, link_sentences, opening

HOST = "wiki.pilothouse.test"
RESULTS_PER_PAGE = 8
MOST_RESULTS = 40
LISTED_PER_PAGE = 24
STYLE = """
* { box-sizing: border-box }
body { margin: 0; font: 17px/1.45 "DejaVu Sans", sans-serif; color: #1b1f24; background: #fff }
header { display: flex; gap: 12px; align-items: center; padding: 8px 16px; border-bottom: 1px solid #c6ccd4 }
header { background: #f4f6f8 }
main { padding: 12px 20px; max-width: 780px } h1 { font-size: 24px; margin: 4px 0 10px } p { margin: 8px 0 }
form { display: flex; gap: 8px; margin-left: auto } input, button { font: inherit; padding: 4px 10px; min-height: 32px }
a { color: #0b57b0 } a.seen { color: #6b3fa0 } ol { padding-left: 0; margin: 6px 0; list-style: none }
li { margin: 0 0 6px } small { display: block; font-size: 14px; line-height: 1.3; color: #4a525c }
nav { display: flex; gap: 20px; padding: 6px 0 } ul { columns: 2; padding-left: 20px }
"""


class WikiSite:
    """Implements `Site` for one episode: it remembers the last search and which pages were read."""

    def __init__(self, wiki: Wiki) -> None:
        self._wiki = wiki
        self._last_search = ""
        self._read: set[str] = set()

    async def answer(self, request: Request) -> Response:
        """The page of an address; every other host is not found."""
        parts = urlsplit(request.url)
        if parts.hostname != HOST:
            return Response(failure="NameNotResolved")
        if parts.path == "/favicon.ico":
            return Response(status=204)
        body = self._page(parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()})
        status = 404 if body is None else 200
        html = self._frame("Not found", "<p>There is no such page.</p>") if body is None else body
        return Response(
            status, html.encode(), {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
        )

    def _page(self, path: str, query: dict[str, str]) -> str | None:
        match path.strip("/").split("/"):
            case [""]:
                return self._home()
            case ["search"]:
                return self._results(query.get("q", ""), _page_number(query))
            case ["list", kind] if kind in self._wiki.kinds:
                return self._list(kind, _page_number(query))
            case ["page", entity_id] if entity_id in self._wiki.entities:
                return self._article(self._wiki.entities[entity_id])
            case _:
                return None

    def _home(self) -> str:
        kinds = "".join(
            f'<li><a data-at="list-{kind}" href="/list/{kind}">{one.plural.capitalize()}</a></li>'
            for kind, one in self._wiki.kinds.items()
        )
        return self._frame(
            "Country Wiki", f"<p>{len(self._wiki.entities)} pages about one country.</p><ul>{kinds}</ul>"
        )

    def _results(self, words: str, page: int) -> str:
        self._last_search = f"/search?q={quote_plus(words)}&page={page}"
        found = self._wiki.search(words, MOST_RESULTS)
        shown = found[(page - 1) * RESULTS_PER_PAGE : page * RESULTS_PER_PAGE]
        entities = [self._wiki.entities[one] for one in shown]
        items = "".join(f"<li>{self._link(one)}<small>{escape(opening(one))}</small></li>" for one in entities)
        links = _neighbours(f"/search?q={quote_plus(words)}", page, len(found) > page * RESULTS_PER_PAGE)
        nothing = "" if found else "<p>No page has any of these words.</p>"
        return self._frame(f"Pages about “{words}”", f"<ol>{items}</ol>{nothing}{links}", words)

    def _list(self, kind: str, page: int) -> str:
        members = sorted((one for one in self._wiki.entities.values() if one.kind == kind), key=lambda one: one.title)
        shown = members[(page - 1) * LISTED_PER_PAGE : page * LISTED_PER_PAGE]
        items = "".join(f"<li>{self._link(one)}</li>" for one in shown)
        links = _neighbours(f"/list/{kind}?", page, len(members) > page * LISTED_PER_PAGE)
        return self._frame(self._wiki.kinds[kind].plural.capitalize(), f"<ul>{items}</ul>{links}")

    def _article(self, entity: Entity) -> str:
        self._read.add(entity.id)
        sentences = [f"<p>{escape(opening(entity))}</p>"]
        for sentence, other in link_sentences(entity, self._wiki.entities):
            title = escape(self._wiki.entities[other].title)
            sentences.append(f"<p>{escape(sentence).replace(title, self._link(self._wiki.entities[other]))}</p>")
        return self._frame(entity.title, "".join(sentences))

    def _link(self, entity: Entity) -> str:
        seen = ' class="seen"' if entity.id in self._read else ""
        return f'<a data-at="{entity.id}"{seen} href="/page/{entity.id}">{escape(entity.title)}</a>'

    def _frame(self, title: str, body: str, words: str = "") -> str:
        back = f'<a data-at="results" href="{escape(self._last_search)}">Results</a>' if self._last_search else ""
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
            f'<style>{STYLE}</style><body data-read="{" ".join(sorted(self._read))}">'
            f'<header><a data-at="home" href="/">Country Wiki</a>{back}'
            f'<form action="/search"><input data-at="words" name="q" aria-label="Search" value="{escape(words)}">'
            f'<button data-at="search">Search</button></form></header>'
            f"<main><h1>{escape(title)}</h1>{body}</main></html>"
        )


def _page_number(query: dict[str, str]) -> int:
    given = query.get("page", "1")
    return max(1, int(given)) if given.isdecimal() and len(given) < 4 else 1


def _neighbours(address: str, page: int, more: bool) -> str:
    back = f'<a data-at="previous" href="{escape(f"{address}&page={page - 1}")}">Previous</a>' if page > 1 else ""
    on = f'<a data-at="next" href="{escape(f"{address}&page={page + 1}")}">Next</a>' if more else ""
    return f"<nav>{back}{on}</nav>"
