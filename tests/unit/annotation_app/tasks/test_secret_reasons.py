"""The page shows why a secret was refused in its language: it knows the server's sentences by its English messages."""

import re

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.tasks.secret_masking import SECRET_REFUSALS

MESSAGES = ROOT / "frontend" / "src" / "shared" / "i18n" / "en" / "shared.ts"
MESSAGE_PATTERN = re.compile(r'^  "secret_refused\.(\w+)": "(.*)",$', re.MULTILINE)


def test_the_page_knows_every_reason_as_the_server_says_it() -> None:
    assert dict(MESSAGE_PATTERN.findall(MESSAGES.read_text(encoding="utf-8"))) == SECRET_REFUSALS
