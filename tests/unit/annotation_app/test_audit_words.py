"""Every verb of the audit log has words in each language of the pages."""

import re

import pytest

from annotation_app.audit.verbs import VERBS
from annotation_app.operations.runtime.stack import ROOT

MESSAGES = ROOT / "frontend" / "src" / "shared" / "i18n"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_verb_has_words(language: str) -> None:
    words = dict(re.findall(r'"audit\.verb\.([\w.]+)": "(.+)"', (MESSAGES / language / "audit.ts").read_text()))
    assert words.keys() == set(VERBS)
    assert len(set(words.values())) == len(VERBS), "different things have different words"
