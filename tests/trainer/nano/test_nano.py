"""The nano policy as the servers know it: tokens, prompts, and the trainer's own forward pass."""

import base64
import io
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from protocol.dialects.dialect import ParsedReply, ScreenSize, TextPart
from trainer.errors import CheckpointMismatched
from trainer.model import merge
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.nano import clicking, reading
from trainer.nano.batches import Decision, DecisionTokenizer, build_batch, sample_decision
from trainer.nano.bundles import write_bundle
from trainer.nano.clicking import forward_batch
from trainer.nano.forward import extract_patches
from trainer.nano.initial_checkpoint import create_initial_checkpoint
from trainer.nano.prompts import build_conversation, nano_dialect
from trainer.nano.synthetic.screens import draw_screen
from trainer.nano.synthetic.targets import letter_pairs
from trainer.nano.tokenizer import single_token_phrases
from trainer.nano.training_runs import HEADS
from trainer.serve.prompt_encoder import PromptEncoder
from trainer.serve.schemas import Message

REPLY = "Thought: \"Größe 中文\" is at the top left.\nAction: click(point='<point>123 45</point>')"


def test_any_text_comes_back_and_points_are_two_tokens(nano: Checkpoint) -> None:
    tokenizer = nano.tokenizer
    ids = tokenizer.encode(REPLY, add_special_tokens=False)
    assert tokenizer.decode(ids) == REPLY
    words = [tokenizer.decode([token]) for token in ids]
    assert words[-3:] == ["<point>123", " 45</point>", "')"]
    assert tokenizer.encode("12 apples", add_special_tokens=False)[0] < 256  # a number elsewhere is spelled


def test_every_phrase_is_one_token(nano: Checkpoint) -> None:
    assert all(len(nano.tokenizer.encode(phrase, add_special_tokens=False)) == 1 for phrase in single_token_phrases())


def test_what_is_asked_is_short_but_for_the_instruction(nano: Checkpoint) -> None:
    before, after = DecisionTokenizer(nano.tokenizer).around(build_conversation("?", (336, 252)))
    assert len(before) < 24
    assert len(after) < 8


def test_a_server_reads_the_same_tokens_and_pixels(nano: Checkpoint) -> None:
    (one,) = _decisions(nano, 1)
    data = io.BytesIO()
    Image.fromarray(one.pixels).save(data, "PNG")
    link = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
    told = [
        Message.model_validate({"role": message.role, "content": [_part(part, link) for part in message.content]})
        for message in _sample_request(4)
    ]
    prompt = PromptEncoder(nano, max_images=5, context=4096).read(told)
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    assert prompt.ids == (*one.before, *(decision_tokenizer.picture,) * 108, *one.after)
    assert torch.allclose(
        prompt.pictures[0].pixels, extract_patches(torch.from_numpy(one.pixels[None].copy()))[0], atol=1e-6
    )


def test_replies_are_read_as_a_click_within_the_target(nano: Checkpoint) -> None:
    for one in _decisions(nano, 8):
        height, width, _ = one.pixels.shape
        said = nano.tokenizer.decode(one.reply, skip_special_tokens=True)
        parsed = nano_dialect().parse(said, ScreenSize(width=width, height=height))
        assert isinstance(parsed, ParsedReply)
        assert parsed.action.kind == "click"
        assert one.target is not None
        left, top, right, bottom = one.target
        assert left - 1 <= parsed.action.x <= right + 1
        assert top - 1 <= parsed.action.y <= bottom + 1


def test_the_batched_forward_pass_is_that_of_transformers(nano: Checkpoint) -> None:
    decision_tokenizer, model = DecisionTokenizer(nano.tokenizer), nano.model
    batch = build_batch(_decisions(nano, 3), decision_tokenizer)
    _, height, width, _ = batch.pixels.shape
    with torch.no_grad():
        logits = forward_batch(model, batch)[2]
        whole = model(
            input_ids=batch.ids,
            attention_mask=torch.ones_like(batch.ids),
            pixel_values=extract_patches(batch.pixels).flatten(0, 1),
            image_grid_thw=torch.tensor([[1, height // 14, width // 14]] * 3),
            mm_token_type_ids=(batch.ids == decision_tokenizer.picture).int(),
        ).logits
        other = forward_batch(model, build_batch([_grey(one) for one in _decisions(nano, 3)], decision_tokenizer))[2]
    theirs = whole.flatten(0, 1)[batch.reply_at]
    assert torch.allclose(logits, theirs, atol=1e-3)
    assert (logits - other).abs().max() > 0.1  # the picture matters, or this would show nothing


@pytest.mark.parametrize("stage", [reading, clicking])
def test_a_stage_learns_and_ends_the_same_when_it_is_ended_in_between(
    stage: object, start: Path, tmp_path: Path
) -> None:
    told = {"checkpoint": start, "batch": 2, "warmup": 1, "keep_every": 1}
    stage.run(stage.Config(**told, out=tmp_path / "parts", updates=1, ahead=0))  # type: ignore[attr-defined]
    parts = stage.run(stage.Config(**told, out=tmp_path / "parts", updates=3))  # type: ignore[attr-defined]
    whole = stage.run(stage.Config(**told, out=tmp_path / "whole", updates=3))  # type: ignore[attr-defined]
    one, other = ((folder / "model.safetensors").read_bytes() for folder in (parts, whole))
    assert one == other != (start / "model.safetensors").read_bytes()
    with pytest.raises(CheckpointMismatched):
        stage.run(stage.Config(**told, seed=1, out=tmp_path / "whole", updates=6))  # type: ignore[attr-defined]


def test_a_tower_that_does_not_learn_stays_as_it_is(start: Path, tmp_path: Path) -> None:
    told = {"checkpoint": start, "batch": 2, "warmup": 1, "updates": 1, "ahead": 0}
    made = clicking.run(clicking.Config(**told, out=tmp_path / "run", tower=False))
    before, after = (load_file(folder / "model.safetensors") for folder in (start, made))
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert any(".merger." in name for name in changed)
    assert any("language_model" in name or "layers" in name for name in changed)
    assert not any("visual.blocks" in name or "visual.patch_embed" in name for name in changed)
    assert any("visual.blocks" in name for name in before)


def test_a_tower_may_learn_at_a_share_of_the_rates(start: Path, tmp_path: Path) -> None:
    told = {"checkpoint": start, "batch": 2, "warmup": 1, "updates": 1, "ahead": 0}
    before = load_file(start / "model.safetensors")
    moved = []
    for share in (1.0, 0.1):
        made = clicking.run(clicking.Config(**told, out=tmp_path / f"run-{share}", tower_rate=share))
        after = load_file(made / "model.safetensors")
        moved.append({name: float((after[name] - before[name]).norm()) for name in before})
    whole, part = moved
    matrices = [name for name in before if "visual.blocks" in name and before[name].ndim == 2]
    assert matrices
    assert all(part[name] == pytest.approx(0.1 * whole[name], rel=0.02) for name in matrices)
    others = [name for name in before if "layers" in name and before[name].ndim == 2]
    assert all(part[name] == pytest.approx(whole[name], rel=0.02) for name in others)


def test_pixels_next_to_each_other_begin_alike(start: Path) -> None:
    checkpoint = load_checkpoint(start)
    words, decision_tokenizer = (
        checkpoint.model.get_input_embeddings().weight.detach(),
        DecisionTokenizer(checkpoint.tokenizer),
    )
    for axis in (words[decision_tokenizer.across], words[decision_tokenizer.down]):
        alike = torch.nn.functional.cosine_similarity(axis[100:101], axis)
        assert alike[101] > 0.9
        assert alike[101] > alike[104] > alike[112] > alike[160]


def test_it_is_told_which_letters_of_an_instruction_are_the_label(nano: Checkpoint) -> None:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    for seed in range(4, 12):
        screen = draw_screen(Random(seed), page=(320, 240), dense=True)
        one = sample_decision(decision_tokenizer, Random(seed), screen)
        label = screen.widgets[one.chosen].label
        begin = one.pairs[0][0]
        spelled = nano.tokenizer.decode(list(one.before[begin : begin + len(label)]))
        assert spelled == label
        assert [pair for _, pair in one.pairs] == [pair for _, pair in letter_pairs(label)]
        batch = build_batch([one], decision_tokenizer)
        assert len(batch.instruction_at) == len(one.sentence) >= len(label)
        assert {int(batch.ids[0, place]) for place in batch.instruction_at} == set(
            one.before[one.sentence.start : one.sentence.stop]
        )
        assert float(batch.instruction_pairs.sum()) == len(one.pairs)


def test_the_same_seed_gives_the_same_weights(start: Path, tmp_path: Path) -> None:
    again = create_initial_checkpoint(tmp_path / "again", seed=0)
    assert (again / "model.safetensors").read_bytes() == (start / "model.safetensors").read_bytes()
    assert sum(file.stat().st_size for file in again.iterdir()) < 30e6


def test_a_bundle_is_half_as_large_and_learns_on(start: Path, tmp_path: Path) -> None:
    told = {"batch": 2, "warmup": 1, "ahead": 0}
    made = clicking.run(clicking.Config(**told, checkpoint=start, out=tmp_path / "run", updates=1))
    kept = write_bundle(made, tmp_path / "bundle")
    assert write_bundle(made, kept) == kept
    assert (kept / "model.safetensors").stat().st_size < 0.51 * (made / "model.safetensors").stat().st_size
    assert not list(kept.glob("optimisers*"))
    before, after = (load_checkpoint(folder).model.state_dict() for folder in (made, kept))
    assert all(torch.equal(after[name], value.bfloat16().float()) for name, value in before.items())
    again = clicking.run(clicking.Config(**told, checkpoint=kept, out=tmp_path / "again", updates=1))
    heads = [torch.load(folder / HEADS, weights_only=True)["letters.weight"] for folder in (kept, again)]
    assert (heads[0].float() - heads[1]).abs().max() < 0.01  # taken over, not drawn anew


def test_a_bundle_is_for_everybody_and_names_no_folder_it_was_merged_from(start: Path, tmp_path: Path) -> None:
    parts = tuple(merge.MergePart(checkpoint=start, weight=0.5) for _ in range(2))
    merged = merge.run(merge.Config(parts=parts, out=tmp_path / "merged"))
    kept = write_bundle(merged, tmp_path / "bundle")
    assert (merged / merge.MERGED).is_file()
    assert not (kept / merge.MERGED).exists()
    assert {file.stat().st_mode & 0o777 for file in kept.iterdir()} == {0o644}


def _decisions(nano: Checkpoint, count: int) -> list[Decision]:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    seeds = range(4, 4 + count)
    return [
        sample_decision(decision_tokenizer, Random(seed), draw_screen(Random(seed), page=(320, 240), dense=True))
        for seed in seeds
    ]


def _sample_request(seed: int) -> tuple:  # type: ignore[type-arg]
    from trainer.nano.synthetic.instructions import request_widget

    screen, random = draw_screen(Random(seed), page=(320, 240), dense=True), Random(seed)
    return build_conversation(
        request_widget(random, screen.widgets[random.randrange(len(screen.widgets))]).sentence, screen.image.size
    )


def _part(part: object, link: str) -> dict[str, object]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": link}}


def _grey(one: Decision) -> Decision:
    from dataclasses import replace

    return replace(one, pixels=np.full_like(one.pixels, 128))
