"""The trainer's figures on this machine, TRL's in the same run: `./pilothouse bench train`.

A random Qwen2.5-VL of 0.7 million weights is fine-tuned by both on the same samples with pictures. One JSON object is
the last line.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.training.trl_environment import PeerUnavailable, ensure_trl, run_measurement


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    console = Console()
    python = ensure_trainer(console)
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as name:
        folder = Path(name)
        print_progress("fine-tuning, reinforcement, advantages, resuming, parity")
        figures = run_measurement(python, "benchmarks.parts.training.pilothouse_trainer", folder)
        try:
            peer = ensure_trl(console, python)
        except PeerUnavailable as error:
            print_progress(f"no TRL here: {error}")
            figures |= {"trl_sft_tokens_per_s": None, "trl_sft_peak_mb": None}
        else:
            print_progress("the same samples with TRL's SFTTrainer, its batch sizes one after another")
            figures |= run_measurement(peer, "benchmarks.parts.training.trl_trainer", folder)
    ours, theirs = figures["sft_tokens_per_s"], figures["trl_sft_tokens_per_s"]
    if ours and theirs:
        figures["sft_speed_up"] = round(ours / theirs, 2)
    return print_figures("train", figures)


if __name__ == "__main__":
    sys.exit(main())
