"""Providers of hosted models: where they are, which dialect they speak, and a policy's settings."""

from typing import Literal

from pydantic import Field

from protocol.base import FrozenModel

Provider = Literal["openai_compatible", "anthropic", "openai", "gemini"]
"""Who serves a policy; `openai_compatible` is any server that one runs oneself."""
BASE_URLS: dict[Provider, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com",
}
"""Where the providers of hosted models are."""
DIALECTS: dict[Provider, str] = {
    "anthropic": "anthropic",
    "openai": "openai_computer",
    "gemini": "gemini_computer",
}
"""The dialect that each provider's computer tool speaks."""
COMPUTER_TOOLS: dict[Provider, tuple[str, ...]] = {
    "anthropic": ("computer_toolset_20260801", "computer_20251124", "computer_20250124", "computer_20241022"),
    "openai": ("computer", "computer_use_preview"),
    "gemini": ("gemini_3_5", "gemini_2_5"),
}
"""Versions of each provider's computer tool, the present one first."""
_Price = Field(ge=0, le=100_000)


class Prices(FrozenModel):
    """US dollars for a million tokens, as the provider's price page has them."""

    input: float = _Price
    output: float = _Price
    cached_input: float | None = Field(default=None, ge=0, le=100_000)
    """Of input that is read from the provider's cache; as other input where it is not given."""


class ProviderSettings(FrozenModel):
    """What a policy of a hosted model needs besides its address and its name."""

    computer_tool: str = Field(default="", max_length=64, pattern=r"^[a-z0-9_]*$")
    """The version of the provider's computer tool; empty: the present one."""
    image_edge: int | None = Field(default=None, ge=64, le=8_000)
    """Pixels of a picture's longer side, to which larger ones are scaled down; the dialect's own where not given."""
    image_pixels: int | None = Field(default=None, ge=4_096, le=64_000_000)
    """The same for the pixels of a picture in all."""
    prices: Prices | None = None
