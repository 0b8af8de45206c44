"""What pages have in common becomes kinds, attributes and relations; what a page does not say is left open."""

from task_factory.questions.inference import CutAttribute, infer_knowledge
from task_factory.questions.pages import Link, Row, WikiPage
from vm_bridge.suites.questions.composer import NAME, Hop, Question, make_question
from vm_bridge.suites.questions.conditions import Condition, conditions_of
from vm_bridge.suites.questions.filters import check_unique
from vm_bridge.suites.questions.schema import Entity, Kind, WordAttribute

TRADES = ("fishing", "farming", "glass", "steel", "tin", "wool")


def make_page(title: str, lead: str, *rows: Row) -> WikiPage:
    return WikiPage(url=f"http://w.test/{title}", title=title, language="en", lead=lead, text=lead, rows=rows, links=())


def link_row(label: str, title: str) -> Row:
    return Row(label=label, text=title, links=(Link(url=f"http://w.test/{title}", text=title),))


def make_pages() -> dict[str, WikiPage]:
    towns = [
        make_page(
            f"Town{n}",
            f"Town{n} is a town.",
            Row(label="Founded", text=f"{1200 + 10 * n}"),
            Row(label="Area", text=f"{n + 1}.5 km²"),
            Row(label="Trade {old}", text=TRADES[n % 6]),
            *([link_row("River", f"River{n % 8}")] if n % 4 else [Row(label="River", text="no river at all here")]),
            link_row("Twin", f"Town{(n + 1) % 24}"),
        )
        for n in range(24)
    ]
    rivers = [
        make_page(f"River{n}", f"River{n} is a river.", Row(label="Length", text=f"{90 + 7 * n} km")) for n in range(8)
    ]
    alone = [make_page("Moon", "Moon is a satellite."), make_page("", "It is a town."), make_page("Talk", "Hello.")]
    return {page.url: page for page in (*towns, *rivers, *alone)}


def test_labels_that_most_pages_have_in_one_form_are_attributes_and_relations() -> None:
    known = infer_knowledge(make_pages(), {})
    assert set(known.kinds) == {"town", "river"}
    town, river = known.kinds["town"], known.kinds["river"]
    assert set(town.attributes) == {"Founded", "Trade {old}"}, "an area is no whole number"
    assert {name: one.kind for name, one in town.relations.items()} == {"River": "river", "Twin": "town"}
    length, trade = river.attributes["Length"], town.attributes["Trade {old}"]
    assert isinstance(length, CutAttribute)
    assert length.state(97) == "is listed with “Length” 97"
    assert length.describe_range(*length.range_of(97)).endswith(" km")
    assert isinstance(trade, WordAttribute)
    assert trade.state("tin") == "is listed with “Trade {old}” tin"
    assert trade.class_of("farming") == (
        "is listed with “Trade {old}” beginning with the letter F",
        ("farming", "fishing"),
    )
    entity = known.entities["http://w.test/Town1"]
    assert entity.facts == {"Founded": 1210, "Trade {old}": "farming"}
    assert entity.links == {"River": "http://w.test/River1", "Twin": "http://w.test/Town2"}
    assert "River" not in known.entities["http://w.test/Town4"].links


def test_ranges_hold_their_values_and_begin_at_no_page_s_own() -> None:
    known = infer_knowledge(make_pages(), {})
    founded = known.kinds["town"].attributes["Founded"]
    assert isinstance(founded, CutAttribute)
    for year in range(1200, 1431):
        first, last = founded.range_of(year)
        assert first <= year <= last
    assert (founded.range_of(1200)[0], founded.range_of(1430)[1]) == (1200, 1499)


def test_a_redirect_leads_to_its_page() -> None:
    pages = make_pages()
    url = "http://w.test/Town3"
    rows = (*pages[url].rows[:3], link_row("River", "OldRiver"))
    pages[url] = pages[url].model_copy(update={"rows": rows})
    known = infer_knowledge(pages, {"http://w.test/OldRiver": "http://w.test/River5"})
    assert known.entities[url].links["River"] == "http://w.test/River5"


class Source:
    """A source of three towns, of which one does not say its trade."""

    version = "three"
    trade = WordAttribute("lives of {value}", {"lives of water": ("fishing",), "lives of land": ("farming",)})
    kinds = {"town": Kind("a town", "towns", "{title}", {"trade": trade})}
    entities = {
        name: Entity(name, "town", name.capitalize(), {"trade": trade} if trade else {}, {})
        for name, trade in (("a", "fishing"), ("b", "farming"), ("c", ""))
    }

    def text(self, entity_id: str) -> str:
        return ""

    def search(self, words: str, limit: int = 10) -> tuple[str, ...]:
        return ()


def test_what_no_page_says_may_be_true() -> None:
    source = Source()
    (condition,) = conditions_of(source, source.entities["a"])
    silent = source.entities["c"]
    assert not condition.holds_for(source, silent)
    assert condition.may_hold_for(source, silent)
    assert not condition.may_hold_for(source, source.entities["b"])
    question = _ask(condition)
    assert check_unique(source, question) == "1 other things may satisfy the conditions: their pages do not say"
    source.entities = {name: one for name, one in source.entities.items() if name != "c"}
    assert check_unique(source, question) is None


def _ask(condition: Condition) -> Question:
    return make_question(Source(), (Hop(entity="a"),), (condition,), NAME)
