"""What `quantize` writes is understood by vLLM as the scheme that was meant."""

import json
import subprocess
from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.model_servers.vllm_environment import EnvironmentUnavailable, ensure_environment

ASKED = """
import json, sys
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors import CompressedTensorsConfig
told = CompressedTensorsConfig.from_config(json.load(open(sys.argv[1]))["quantization_config"])
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


@pytest.mark.vllm
@pytest.mark.parametrize(("scheme", "kind"), [("W4A16", "sixteen"), ("W4AFP8", "eight")])
def test_vllm_reads_the_scheme(scheme: str, kind: str, trainer_python: Path, checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [f"checkpoint={checkpoint}", f"out={out}", f"scheme={scheme}"]
    command: list[str | Path] = [trainer_python, "-m", "trainer", "quantize"]
    command += [part for word in words for part in ("--set", word)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    try:
        python = ensure_environment(ROOT / ".data" / "venvs" / "vllm")
    except EnvironmentUnavailable as error:
        pytest.skip(f"missing capability: vLLM on CPU ({error})")
    told = subprocess.run(
        [python, "-c", ASKED, out / "config.json"], capture_output=True, text=True, check=True, timeout=600
    )
    read = json.loads(told.stdout.splitlines()[-1])
    assert [name for name in ("sixteen", "eight") if read[name]] == [kind]
    assert (read["format"], read["group"]) == ("pack-quantized", 128)
    assert set(read["ignore"]) == {"lm_head", "re:.*visual.*"}
