"""What is asked of questions about wikis beside the filters of every question."""

import re

from vm_bridge.suites.questions.composer import Question
from vm_bridge.suites.questions.filters import SEARCH_DEPTH
from vm_bridge.suites.questions.schema import KnowledgeSource

NUMBER = re.compile(r"\d{2,}")


def check_not_by_a_number(source: KnowledgeSource, question: Question) -> str | None:
    """No number of the question, as a search, finds the answer's page or the first one. Sites whose search wants every
    word find nothing by a sentence, and still the page by an exact value."""
    ends = {question.hops[0].entity, question.hops[-1].entity}
    for number in dict.fromkeys(NUMBER.findall(question.text)):
        if hit := next((one for one in source.search(number, SEARCH_DEPTH) if one in ends), None):
            return f"a search for “{number}” finds {hit}"
    return None
