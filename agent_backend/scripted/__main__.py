"""Serve the scripted policy: `python -m agent_backend.scripted --port 8091`."""

import argparse
from pathlib import Path

import uvicorn

from agent_backend.scripted.script import scripts_load
from agent_backend.scripted.server import app_of
from vocabulary.dialects import dialect_named

DESKTOP = Path(__file__).with_name("desktop.json")
PHONE = Path(__file__).with_name("phone.json")
TERMINAL = Path(__file__).with_name("terminal.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8091)
    parser.add_argument("--scripts", type=Path, nargs="+", default=(DESKTOP, PHONE, TERMINAL))
    parser.add_argument("--pace", type=float, default=0.012, help="seconds between two streamed tokens")
    arguments = parser.parse_args()
    scripts = tuple(script for path in arguments.scripts for script in scripts_load(path))
    app = app_of(scripts, dialect_named("ui_tars_1_5"), pace=arguments.pace)
    uvicorn.run(app, host=arguments.host, port=arguments.port, log_level="warning")


if __name__ == "__main__":
    main()
