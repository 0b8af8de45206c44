"""What `quantize` writes is understood by vLLM as the scheme that was meant."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.model_servers.vllm_environment import EnvironmentUnavailable, ensure_environment

SCHEMES = {"W4A16": "sixteen", "W4AFP8": "eight"}
ASKED = """
import json, sys
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors import CompressedTensorsConfig
for file in sys.argv[1:]:
    told = CompressedTensorsConfig.from_config(json.load(open(file))["quantization_config"])
    linear = told.target_scheme_map["Linear"]
    weights, given = linear["weights"], linear["input_activations"]
    print(json.dumps({
        "format": linear["format"],
        "sixteen": told._is_wNa16_group_channel(weights, given),
        "eight": told._is_fp8_w4a8(weights, given),
        "group": weights.group_size,
        "ignore": told.ignore,
    }))
"""
"""One process reads both: loading vLLM takes far longer than reading."""


@pytest.fixture(scope="module")
def found(
    trainer_python: Path, checkpoint: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What vLLM reads of each scheme."""
    folder = tmp_path_factory.mktemp("quantised")
    for scheme in SCHEMES:
        words = [f"checkpoint={checkpoint}", f"out={folder / scheme}", f"scheme={scheme}"]
        command: list[str | Path] = [trainer_python, "-m", "trainer", "quantize"]
        command += [part for word in words for part in ("--set", word)]
        subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    try:
        python = ensure_environment(ROOT / ".data" / "venvs" / "vllm")
    except EnvironmentUnavailable as error:
        pytest.skip(f"missing capability: vLLM on CPU ({error})")
    files = [folder / scheme / "config.json" for scheme in SCHEMES]
    told = subprocess.run([python, "-c", ASKED, *files], capture_output=True, text=True, check=True, timeout=600)
    lines = told.stdout.splitlines()[-len(SCHEMES) :]
    return {scheme: json.loads(line) for scheme, line in zip(SCHEMES, lines, strict=True)}


@pytest.mark.vllm
@pytest.mark.parametrize(("scheme", "kind"), SCHEMES.items())
def test_vllm_reads_the_scheme(scheme: str, kind: str, found: dict[str, dict[str, Any]]) -> None:
    read = found[scheme]
    assert [name for name in ("sixteen", "eight") if read[name]] == [kind]
    assert (read["format"], read["group"]) == ("pack-quantized", 128)
    assert set(read["ignore"]) == {"lm_head", "re:.*visual.*"}
