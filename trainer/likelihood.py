"""How likely a checkpoint finds a reply: the log-probabilities of its tokens, all computed in one pass.

`python -m trainer.likelihood CHECKPOINT` reads JSON Lines `{prompt_token_ids, images, token_ids, temperature}`, the
images as data URLs, and writes `{logprobs}` for each: what a server said of its own replies can be compared with it.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from trainer.errors import CheckpointError
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.serve.prompt_encoder import Picture, PromptEncoder
from trainer.serve.schemas import InvalidRequest

CONTEXT = 1 << 20


def compute_reply_logprobs(
    checkpoint: Checkpoint,
    prompt: Sequence[int],
    pictures: Sequence[Picture],
    reply: Sequence[int],
    *,
    temperature: float = 1.0,
) -> torch.Tensor:
    """Log-probability of each token of a reply, in nats.

    Args:
        checkpoint: The model.
        prompt: Token ids, with every place of every picture written out.
        pictures: In the order of the prompt.
        reply: Token ids.
        temperature: Divides the logits; 0 stands for 1, as in servers.

    Returns:
        [tokens of the reply], at most 0.
    """
    model = checkpoint.model
    ids = torch.tensor([[*prompt, *reply]])
    grids = torch.cat([picture.grid for picture in pictures]) if pictures else None
    kinds = (ids == model.config.image_token_id).int()
    positions, _ = model.model.get_rope_index(ids, mm_token_type_ids=kinds, image_grid_thw=grids)
    vision_inputs = (
        {"pixel_values": torch.cat([one.pixels for one in pictures]), "image_grid_thw": grids} if pictures else {}
    )
    with torch.inference_mode():
        out = model(
            input_ids=ids,
            position_ids=positions,
            attention_mask=torch.ones_like(ids),
            logits_to_keep=len(reply) + 1,
            **vision_inputs,
        )
    logits = out.logits[0, :-1].float() / (temperature or 1.0)
    chosen: torch.Tensor = logits.log_softmax(-1).gather(-1, torch.tensor(reply)[:, None])[:, 0]
    return chosen


def main(arguments: list[str] | None = None) -> int:
    """Read requests, write answers, in order."""
    options = argparse.ArgumentParser(prog="python -m trainer.likelihood", description=__doc__)
    options.add_argument("checkpoint", type=Path)
    try:
        checkpoint = load_checkpoint(options.parse_args(arguments).checkpoint)
        reader = PromptEncoder(checkpoint, max_images=CONTEXT, context=CONTEXT)
        for line in sys.stdin:
            request = json.loads(line)
            pictures = [reader.picture(link) for link in request.get("images", [])]
            found = compute_reply_logprobs(
                checkpoint,
                request["prompt_token_ids"],
                pictures,
                request["token_ids"],
                temperature=request.get("temperature", 1.0),
            )
            print(json.dumps({"logprobs": found.tolist()}), flush=True)
    except (CheckpointError, InvalidRequest, KeyError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
