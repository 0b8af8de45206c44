"""Every reason for which the desk's server refuses a command has words in each language."""

import re

from annotation_app.operations.runtime.stack import ROOT

REFUSAL = re.compile(r'CommandRejected\(\s*"([a-z_]+)"')
SOURCES = ("agent_backend/episode", "annotation_app/live")
WORDS = ROOT / "frontend/src/shared/i18n"


def test_every_refusal_of_a_command_has_words() -> None:
    texts = [path.read_text() for folder in SOURCES for path in (ROOT / folder).rglob("*.py")]
    codes = {code for text in texts for code in REFUSAL.findall(text)}
    assert {"stale_accept", "page_done", "time_over"} <= codes
    shown = (ROOT / "frontend/src/features/annotate/step/rejections.ts").read_text()
    assert {code for code in codes if f'"{code}"' not in shown} == set()
    for language in ("en", "zh"):
        words = "".join(path.read_text() for path in (WORDS / language).glob("*.ts"))
        assert {code for code in codes if f'"refused.{code}"' not in words} == set(), language
