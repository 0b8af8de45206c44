"""A tiny policy that clicks at random: real architecture, one token for a whole action, and one that gives up.

Run inside the trainer's environment: `python -m tests.integration.bridge.rollout.random_click_policy FOLDER`. What it
sees does not influence its replies yet: attention adds nothing to them until it is trained.
"""

import shutil
import sys
from pathlib import Path

from benchmarks.parts.model_servers.checkpoint import token_id, write

WORDS = ("Action: click(start_box='(90,70)')", "Action: click(start_box='(150,120)')", "Action: finished()")
SURE = 14.0
"""How much likelier its words are than any other token (as a logit)."""


def clicker_write(folder: Path) -> None:
    """Write the whole checkpoint, then rename it."""
    import torch
    from transformers import AutoTokenizer, Qwen2_5_VLForConditionalGeneration

    making = folder.with_name(folder.name + ".random")
    write(making, seed=0)
    tokenizer = AutoTokenizer.from_pretrained(making)
    tokenizer.add_tokens(list(WORDS))
    tokenizer.save_pretrained(making)
    said = tokenizer.convert_tokens_to_ids(list(WORDS))
    (begin,) = tokenizer.encode("\n", add_special_tokens=False)

    model = Qwen2_5_VLForConditionalGeneration.from_pretrained(making, dtype=torch.float32)
    with torch.no_grad():
        for layer in model.model.language_model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        seen = torch.nn.functional.normalize(model.get_input_embeddings().weight)
        head, scale = model.lm_head.weight, SURE / seen.shape[1] ** 0.5
        head[said] = scale * seen[begin]
        head[token_id("im_end")] = scale * seen[said].sum(0)
    model.save_pretrained(making)
    shutil.move(making, folder)


if __name__ == "__main__":
    clicker_write(Path(sys.argv[1]))
