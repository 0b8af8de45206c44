"""Shows what is trained on, token by token.

`python -m trainer.show FOLDER CHECKPOINT`: grey is read, green is learned and the policy's own, yellow is learned and
a person's; a line under a token that counts for nothing. Pictures are their size; what is no printing character is
escaped. `--lengths FILE` writes how many tokens each sample has.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path

from protocol.dialects.families import get_dialect, list_dialects
from trainer.data.rendering import Renderer, TokenizedSample, render_folder
from trainer.data.trajectories import open_folder
from trainer.errors import TrainerError
from trainer.model.checkpoints import load_checkpoint

READ, OWN, HUMAN, NOTHING, PLAIN = "\x1b[90m", "\x1b[32m", "\x1b[33m", "\x1b[4m", "\x1b[0m"


def format_sample(sample: TokenizedSample, renderer: Renderer, *, pad: int, colour: bool) -> str:
    """A sample for people: what it is, then its text."""
    learned, weights = sum(sample.mask), sorted({w for w, m in zip(sample.weights, sample.mask, strict=True) if m})
    formatted = ", ".join(f"{weight:g}" for weight in weights)
    words = "drawn" if sample.logprobs is not None else "worded"
    head = (
        f"{sample.name}: {len(sample.ids)} tokens, {learned} learned (weight {formatted}), "
        f"pictures: {len(sample.pictures)}, {words} by the {'policy' if sample.actor == 'policy' else 'person'}"
    )
    return "\n".join([head, "".join(_colour_text(sample, renderer, pad, colour)), ""])


def sample_length_line(sample: TokenizedSample) -> str:
    """How long a sample is, as a line of JSON; `key` is that of its row in an export of any format that is learned
    from."""
    description = {
        "key": f"{sample.trajectory_id}-{sample.index:05d}",
        "tokens": len(sample.ids),
        "learned": sum(sample.mask),
        "pictures": len(sample.pictures),
    }
    return json.dumps(description)


def _colour_text(sample: TokenizedSample, renderer: Renderer, pad: int, colour: bool) -> Iterator[str]:
    pictures = iter(sample.pictures)
    tokens = zip(sample.ids, sample.mask, sample.weights, strict=True)
    for (picture, learned, weight), run in groupby(tokens, lambda one: (one[0] == pad, one[1], one[2])):
        ids = [token for token, _, _ in run]
        if picture:
            _, rows, columns = next(pictures).grid[0].tolist()
            text = f"[picture of {rows} x {columns} patches: {len(ids)} tokens]"
        else:
            text = _printable(renderer.text(ids))
        if not colour:
            yield f"⟦{text}⟧" if learned else text
        elif learned:
            paint = HUMAN if sample.actor == "human" else OWN
            yield f"{paint}{NOTHING if weight == 0 else ''}{text}{PLAIN}"
        else:
            yield f"{READ}{text}{PLAIN}"


def _printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in text)


def main(arguments: list[str] | None = None) -> int:
    """Show a folder's samples, then count them."""
    parser = argparse.ArgumentParser(prog="python -m trainer.show", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--dialect", choices=list_dialects(), default="ui_tars_1_5")
    parser.add_argument("--most", type=int, default=4, help="how many samples are shown; all are counted")
    parser.add_argument("--context", type=int, default=32_768, help="how many tokens a sample may have")
    parser.add_argument("--lengths", type=Path, help="where each sample's length in tokens is written, as JSON Lines")
    parser.add_argument("--colour", choices=("auto", "always", "never"), default="auto")
    options = parser.parse_args(arguments)
    colour = options.colour == "always" or (
        options.colour == "auto" and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    )
    try:
        folder, checkpoint = open_folder(options.folder), load_checkpoint(options.checkpoint)
        renderer, dialect = Renderer(checkpoint, context=options.context), get_dialect(options.dialect)
        if renderer.limits != dialect.limits:
            print(f"note: the checkpoint scales pictures to {renderer.limits}, {dialect.name} to {dialect.limits}")
        pad = checkpoint.model.config.image_token_id
        left_out: Counter[str] = Counter()
        count = tokens = learned = 0
        with options.lengths.open("w") if options.lengths else nullcontext() as lengths:
            for sample in render_folder(folder, dialect, renderer, left_out):
                if count < options.most:
                    print(format_sample(sample, renderer, pad=pad, colour=colour))
                if lengths is not None:
                    lengths.write(f"{sample_length_line(sample)}\n")
                count, tokens, learned = count + 1, tokens + len(sample.ids), learned + sum(sample.mask)
        print(f"{count} samples, {tokens} tokens, {learned} learned; left out: {dict(left_out) or 'none'}")
    except TrainerError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{options.lengths}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
