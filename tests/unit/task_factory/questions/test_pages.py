"""What is read of a page: title, first sentences, rows, links, language; what its words mean."""

import pytest

from task_factory.questions.pages import Link, Row, parse_page
from task_factory.questions.values import Number, facts_of, read_kind, read_number, read_word

URL = "http://wiki.test/wiki/Harl"
ARTICLE = """<!DOCTYPE html><html lang="en-GB"><head><title>Harl - Wiki</title>
<style>p { color: red }</style></head><body>
<nav><a href="/wiki/Index">Index</a></nav>
<h1 id=firstHeading><span>Harl</span></h1>
<table class="infobox vcard"><caption>Harl</caption><tbody>
<tr><th colspan=2>Harl</th></tr>
<tr><th scope="row">Population<br>(2011)</th><td>12,345<sup class="reference"><a href="#note1">[1]</a></sup></td></tr>
<tr><th>River</th><td><a href="/wiki/Sile#course" title="Sile">Sile</a></td></tr>
<tr><th>Twin towns</th><td><a href="/wiki/A">A</a>, <a href="/wiki/B">B</a></td></tr>
</tbody></table>
<p class="mw-empty"></p>
<p><b>Harl</b> is a small market town in <a href="./North">the North</a>. It was founded in 1210 &amp; burnt.</p>
<p>More<dl><dt>Mayor</dt><dd>Anna Berg</dd></dl>
<script>document.write("<p>not this</p>")</script><a href="mailto:a@b.test">mail</a><a href="http://[bad">bad</a>
"""


def test_a_page_is_read_as_its_readers_see_it() -> None:
    page = parse_page(URL, ARTICLE)
    assert (page.title, page.language, page.is_english) == ("Harl", "en-gb", True)
    assert page.lead == "Harl is a small market town in the North. It was founded in 1210 & burnt."
    assert page.rows == (
        Row(label="Population (2011)", text="12,345"),
        Row(label="River", text="Sile", links=(Link(url="http://wiki.test/wiki/Sile", text="Sile"),)),
        Row(label="Twin towns", text="A, B", links=tuple(Link(url=f"http://wiki.test/wiki/{x}", text=x) for x in "AB")),
        Row(label="Mayor", text="Anna Berg"),
    )
    assert [link.text for link in page.links] == ["Index", "Sile", "A", "B", "the North"]
    assert "not this" not in page.text
    assert "color" not in page.text
    assert page.digest != parse_page(URL, ARTICLE.replace("12,345", "12,346")).digest


def test_what_a_first_sentence_says_goes_after_the_tables() -> None:
    facts = facts_of(parse_page(URL, ARTICLE))
    assert facts["Founded"].text == "1210"
    said = parse_page(URL, ARTICLE.replace("Population<br>(2011)", "Founded"))
    assert facts_of(said)["Founded"].text == "12,345"


@pytest.mark.parametrize("html", ["", "<", "<table><tr><td>a", "</table></tr></p>", "<p>" * 500, "\0<a href=x>"])
def test_broken_pages_are_read_as_far_as_they_go(html: str) -> None:
    page = parse_page(URL, html)
    assert page.rows == ()
    assert page.title == ""


@pytest.mark.parametrize(
    ("html", "english"),
    [
        ('<html lang="de"><p>It is in the town of the river.</p>', False),
        ('<html lang="en"><p>Fluss</p>', True),
        ("<p>The town is in the north of the country, and it is on a river.</p>", True),
        ("<p>Die Stadt liegt im Norden des Landes und hat einen Fluss.</p>", False),
    ],
)
def test_the_language_is_what_a_page_says_or_its_words(html: str, english: bool) -> None:
    assert parse_page(URL, html).is_english is english


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1872", Number(1872)),
        ("c. 1872", Number(1872)),
        ("3 May 1872", Number(1872)),
        ("May 3, 1872 (aged 4)", Number(1872)),
        ("12,345", Number(12345)),
        ("1 234 m", Number(1234, "m")),
        ("310 km²", Number(310, "km²")),
        ("86", Number(86)),
        ("3.5 km", None),
        ("1914–1918", None),
        ("Anna Berg", None),
        ("12 and 14", None),
    ],
)
def test_numbers_are_whole_or_none(text: str, number: Number | None) -> None:
    assert read_number(text) == number


def test_words_are_few() -> None:
    assert read_word("Steel making") == "steel making"
    assert read_word("steel, coal") is None
    assert read_word("a place with very many words") is None
    assert read_word("4 mills") is None


@pytest.mark.parametrize(
    ("lead", "kind"),
    [
        ("Harl is a small market town in the North.", "town"),
        ("Anna Berg (1850–1910) was a Norwegian painter and writer.", "painter"),
        ("The Sile is the longest river of the country.", "river"),
        ("X is a 1972 film directed by Y.", "film"),
        ("X is an old walled town.", "town"),
        ("Lists of towns", None),
        ("Oslo is Norway's capital.", None),
        ("This is an English.", None),
    ],
)
def test_a_kind_is_the_noun_of_the_first_sentence(lead: str, kind: str | None) -> None:
    assert read_kind(lead) == kind
