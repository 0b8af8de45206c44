"""Serve the scripted policy: `python -m agent_backend.scripted_policy --port 8091`."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
from pathlib import Path

import uvicorn

from agent_backend.scripted_policy.script import load_scripts
from agent_backend.scripted_policy.server import create_app
from protocol.dialects.families import get_dialect

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
    scripts = tuple(script for path in arguments.scripts for script in load_scripts(path))
    app = create_app(scripts, get_dialect("ui_tars_1_5"), pace=arguments.pace)
    uvicorn.run(app, host=arguments.host, port=arguments.port, log_level="warning")


if __name__ == "__main__":
    main()
