"""Graphics cards are told from what only looks like one."""

import pytest

from vm_bridge.browser.engine import is_software_renderer


@pytest.mark.parametrize(
    "renderer",
    [
        "",
        "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)",
        "ANGLE (Mesa, llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5)",
        "Google SwiftShader",
        "Microsoft Basic Render Driver",
    ],
)
def test_software(renderer: str) -> None:
    assert is_software_renderer(renderer)


@pytest.mark.parametrize(
    "renderer",
    [
        "ANGLE (NVIDIA, Vulkan 1.3.277 (NVIDIA NVIDIA H100 PCIe (0x00002331)), NVIDIA)",
        "ANGLE (AMD, AMD Radeon RX 6800 (RADV NAVI21), OpenGL 4.6)",
    ],
)
def test_a_card(renderer: str) -> None:
    assert not is_software_renderer(renderer)
