"""Probes a model (`./pilothouse probe`): findings on standard error, the report as one JSON object on standard output.

A server that requires a key gets PILOTHOUSE_POLICY_API_KEY. The exit status is 1 if something is wrong.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

from pydantic import SecretStr

from agent_backend.policy.openai_chat import PolicyEndpoint
from agent_backend.probe.prober import run_probe
from protocol.dialects.families import list_dialects

MARKS = {"error": "\N{BALLOT X}", "warning": "!", "note": "\N{BULLET}"}


def main(argv: Sequence[str] | None = None) -> int:
    """Probe the model that the arguments name."""
    parser = argparse.ArgumentParser(prog="./pilothouse probe", description="Try a model.")
    parser.add_argument("server", help="the address of its OpenAI-compatible API, ending in /v1")
    parser.add_argument("--model", required=True, help="what the server calls it")
    parser.add_argument("--dialect", required=True, choices=list_dialects(), help="how it writes actions")
    parser.add_argument("--screens", choices=("desktop", "small"), default="desktop", help="what it is shown")
    arguments = parser.parse_args(argv)
    endpoint = PolicyEndpoint(
        base_url=arguments.server,
        model=arguments.model,
        dialect=arguments.dialect,
        name=arguments.model,
        revision="probe",
        api_key=SecretStr(os.environ.get("PILOTHOUSE_POLICY_API_KEY", "")),
    )
    report = asyncio.run(run_probe(endpoint, arguments.screens))
    for finding in report.findings:
        print(f"{MARKS[finding.severity]} {finding.code}: {finding.message}", file=sys.stderr)
    print(report.model_dump_json())
    return 0 if report.usable else 1


if __name__ == "__main__":
    sys.exit(main())
