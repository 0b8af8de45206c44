"""The policy of the repository still clicks and types what it is asked for: it is asked as it was when it learned."""

from pathlib import Path

from trainer.model.checkpoints import load_checkpoint
from trainer.nano.initial_checkpoint import create_initial_checkpoint
from trainer.nano.measuring import Config, clicking_figures, step_figures

BUNDLED = Path(__file__).parents[3] / "trainer" / "nano" / "checkpoint"


def test_most_clicks_on_words_never_trained_on_hit_and_blind_hardly_any(tmp_path: Path) -> None:
    config = Config(checkpoint=BUNDLED, out=tmp_path / "figures.json", screens=40)
    figures = clicking_figures(load_checkpoint(BUNDLED), config, held_out=True)
    assert figures["screens"] == 40
    assert float(str(figures["success_rate"])) >= 0.6  # 0.93 of 200 when it was bundled
    assert float(str(figures["blind"])) <= 0.3


def test_most_words_never_trained_on_are_typed_letter_by_letter(tmp_path: Path) -> None:
    config = Config(checkpoint=BUNDLED, out=tmp_path / "figures.json", screens=60)
    typing = step_figures(load_checkpoint(BUNDLED), config, held_out=True)["typing"]
    assert typing["steps"] >= 8
    assert typing["success_rate"] >= 0.6  # 29 of 30 when it was bundled


def test_its_tokens_are_those_that_are_made_today(tmp_path: Path) -> None:
    start = create_initial_checkpoint(tmp_path / "start", seed=0)
    for name in ("tokenizer.json", "chat_template.jinja", "preprocessor_config.json"):
        assert (BUNDLED / name).read_bytes() == (start / name).read_bytes(), name
    assert sum(file.stat().st_size for file in BUNDLED.iterdir()) < 30e6
