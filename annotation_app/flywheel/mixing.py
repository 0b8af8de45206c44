"""Of which sources a training is mixed: pure. The shares are a recipe's; a source that holds nothing gives its to the
others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation_app.flywheel.recipe import GeneralData, MixShares


def mix_sources(
    shares: MixShares, *, fresh: Path | None, earlier: Path | None, general: Mapping[str, GeneralData]
) -> dict[str, Any]:
    """The `sources` of `trainer ct`; empty where no trajectory is among them: general data alone is no turn."""
    agent = {
        name: {"kind": "trajectories", "paths": [str(folder)], "share": share}
        for name, folder, share in (("fresh", fresh, shares.fresh), ("earlier", earlier, shares.earlier))
        if folder is not None and share > 0
    }
    if not agent:
        return {}
    each = shares.general / len(general) if general else 0.0
    background = {
        f"general/{name}": {"kind": one.kind, "paths": list(one.paths), "share": each} for name, one in general.items()
    }
    return agent | (background if each > 0 else {})
