"""What is asked of questions about wikis beside the filters of every question."""

from collections.abc import Callable

from vm_bridge.suites.questions.composer import Question
from vm_bridge.suites.questions.filters import FILTERS, SEARCH_DEPTH, WORD_PATTERN
from vm_bridge.suites.questions.schema import KnowledgeSource


def check_not_by_shared_words(source: KnowledgeSource, question: Question) -> str | None:
    """A search for all words that the question shares with the first or the last page does not find that page.

    Many sites find only pages with every word, so that a whole sentence finds nothing. These words are all on the page,
    and no other words of the question leave fewer pages beside it.
    """
    said = dict.fromkeys(word.lower() for word in WORD_PATTERN.findall(question.text))
    for end in dict.fromkeys((question.hops[0].entity, question.hops[-1].entity)):
        page = f"{source.entities[end].title} {source.text(end)}".lower()
        known = set(WORD_PATTERN.findall(page))
        words = " ".join(word for word in said if word in known)
        if words and end in source.search(words, SEARCH_DEPTH):
            return f"a search for “{words}” finds {end}"
    return None


SOURCE_FILTERS: dict[str, Callable[[KnowledgeSource, Question], str | None]] = {
    **FILTERS,
    "not_by_shared_words": check_not_by_shared_words,
}
"""Every filter of a question about a wiki by name, in the order in which they are asked."""
