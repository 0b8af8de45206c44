"""Sphinx builds every page of the documentation, and a broken link fails the build."""

import shutil
from pathlib import Path

import pytest

from annotation_app.operations import documentation
from annotation_app.operations.console import Console
from annotation_app.operations.errors import CommandFailed


def test_the_site_is_built_and_a_broken_link_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console()
    documentation.build_site(tmp_path / "site", console)
    assert "Install" in (tmp_path / "site/getting-started/install.html").read_text()
    assert "Corrections of reviewers are learned" in (tmp_path / "site/adr/review.html").read_text()
    assert "PILOTHOUSE_DATABASE_URL" in (tmp_path / "site/reference/generated/settings.html").read_text()
    assert "accept" in (tmp_path / "site/searchindex.js").read_text()

    broken = tmp_path / "docs"
    broken.mkdir()
    shutil.copy(documentation.SOURCE / "conf.py", broken)
    (broken / "index.md").write_text("# Pilothouse\n\n[gone](no-such-page.md)\n")
    monkeypatch.setattr(documentation, "SOURCE", broken)
    with pytest.raises(CommandFailed, match="no-such-page"):
        documentation.build_site(tmp_path / "broken-site", console)
