"""The start of an outcome model of the bundled policy's size: its weights, and one token for each phrase that every
judge's prompt has.

Spelled in bytes, the prompt that judges get has 1,400 tokens, most of them the same in every question. The places of
clicks begin as what the policy knows of those points.
"""

import os
import re
import shutil
from pathlib import Path

import torch
from tokenizers import AddedToken

from protocol.evaluation.judge_prompts import OUTCOME_INSTRUCTIONS, OUTCOME_QUESTION
from trainer.model.checkpoints import load_checkpoint
from trainer.nano.tokenizer import ACROSS

WORDS = (
    *("Task: ", "\n\nStep ", ", by the agent", "\nThought: ", "\nAction: ", "\nPage: http://", "There it ended."),
    *("It was cut off here.", "The screen at first:", "The screen after step ", " ===\n", "\n=== "),
    *(',"kind":"click"}', '{"kind":"type_text","text":"', '{"kind":"press_keys","keys":["', '{"kind":"drag","path":['),
    *("miniwob.test/miniwob/", ".pilothouse.test/", "Verdict:"),
)
"""Of the record and before the answers."""
ANSWERED = (" yes", " no")
"""One token each, where they are whole words: judges go by how likely the model found each."""
MULTIPLE = 64
"""Rows of the embedding come in so many."""


def judge_phrases() -> dict[str, str]:
    """What is one token each, with the policy's own token that it begins as; none where it has no such."""
    fixed = [*re.split(r"\{\w+\}", OUTCOME_INSTRUCTIONS), OUTCOME_QUESTION.partition("`")[0], *WORDS, *ANSWERED]
    across = {f'{{"x":{x}': f"<point>{x}" for x in range(ACROSS)}
    down = {f',"y":{y}': f" {y}</point>" for y in range(ACROSS)}
    return {**dict.fromkeys(fixed, ""), **across, **down}


def create_judge_start(checkpoint: Path, folder: Path) -> Path:
    """Write the checkpoint that `trainer.orm` begins with, beside `folder` and renamed. Raises CheckpointUnusable."""
    loaded = load_checkpoint(checkpoint)
    model, tokenizer, phrases = loaded.model, loaded.tokenizer, judge_phrases()
    begin = {phrase: tokenizer.encode(known or phrase, add_special_tokens=False) for phrase, known in phrases.items()}
    tokenizer.add_tokens([AddedToken(phrase, normalized=False, single_word=phrase in ANSWERED) for phrase in phrases])
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=MULTIPLE, mean_resizing=False)
    rows = model.get_input_embeddings().weight
    with torch.no_grad():
        for phrase, ids in begin.items():
            rows[tokenizer.convert_tokens_to_ids(phrase)] = rows[ids].mean(0)
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    loaded.write(making)
    tokenizer.save_pretrained(making)
    os.rename(making, folder)
    return folder
