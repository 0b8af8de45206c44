"""The program that looks after placed hosts, when something happens that nobody foresaw."""

import os
import subprocess
import sys

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_ray
from annotation_app.operations.runtime.stack import ROOT
from tests.integration.cluster.cluster_helpers import GROUP

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group(GROUP)]

KEPT = """
import asyncio, os, sys
from vm_bridge.cluster import __main__ as program
from vm_bridge.cluster.controller import ClusterController
from vm_bridge.config import read_config

async def report(self):
    raise KeyError("a row that is none")

ClusterController._report_lost_hosts = report
ClusterController.place_hosts = lambda self, count: None
asyncio.run(program.run_controller(read_config(os.environ), program.parse_arguments(["--hosts", "1"])))
"""
"""The program over no cluster, with an error where it looks."""


def test_it_ends_with_an_error_that_nobody_foresaw_instead_of_looking_no_more() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PILOTHOUSE_SECRET": "s" * 16}
    python = str(ensure_ray(Console(sys.stderr)))
    ended = subprocess.run(
        [python, "-c", KEPT], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 1, ended.stderr
    assert "KeyError: 'a row that is none'" in ended.stderr
