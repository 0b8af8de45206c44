"""`python -m trainer.serve FOLDER`: serve a checkpoint on this machine's processor."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

import torch
import uvicorn

from trainer.errors import CheckpointError
from trainer.model.checkpoints import DTYPES, load_checkpoint
from trainer.serve.app import create_app
from trainer.serve.engine import Engine
from trainer.serve.prompt_encoder import PromptEncoder

KEY = "PILOTHOUSE_SERVE_API_KEY"


def parser() -> argparse.ArgumentParser:
    """Its options; the names are vLLM's where it has the same."""
    options = argparse.ArgumentParser(
        prog="python -m trainer.serve",
        description="An OpenAI-compatible server for a small Qwen2.5-VL checkpoint on a processor. "
        f"{KEY}, where set, is the key that every request must bring.",
    )
    options.add_argument("checkpoint", type=Path, help="a folder in the Hugging Face layout")
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=8020)
    options.add_argument("--served-model-name", default="", help="default: the folder's name")
    options.add_argument("--weight-version", default="default", help="what its weights are called until they change")
    options.add_argument("--dtype", choices=sorted(DTYPES), default="float32")
    options.add_argument("--max-model-len", type=int, default=8192, help="tokens of prompt and reply together")
    options.add_argument("--max-num-seqs", type=int, default=16, help="replies written at once")
    options.add_argument("--max-images", type=int, default=5, help="pictures a prompt may hold")
    options.add_argument("--kept-tokens", type=int, default=32_768, help="tokens of earlier prompts that are kept")
    options.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options.add_argument(
        "--dev", action="store_true", help="let clients change weights and pause it: for a private network only"
    )
    return options


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal to stop."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    try:
        checkpoint = load_checkpoint(options.checkpoint, dtype=options.dtype)
    except CheckpointError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    reader = PromptEncoder(checkpoint, max_images=options.max_images, context=options.max_model_len)
    engine = Engine(
        checkpoint, context=options.max_model_len, rows=options.max_num_seqs, cache_tokens=options.kept_tokens
    )
    engine.version = options.weight_version
    app = create_app(
        engine,
        reader,
        name=options.served_model_name or options.checkpoint.name,
        root=options.checkpoint,
        context=options.max_model_len,
        api_key=os.environ.get(KEY, ""),
        dev=options.dev,
    )
    config = uvicorn.Config(app, host=options.host, port=options.port, log_level="warning", timeout_graceful_shutdown=3)
    with suppress(KeyboardInterrupt):  # the server has shut down by then
        _Server(config).run()
    return 0


class _Server(uvicorn.Server):
    """Prints its address when it accepts requests."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(f"Serving on http://{self.config.host}:{self.config.port}/v1", flush=True)


if __name__ == "__main__":
    sys.exit(main())
