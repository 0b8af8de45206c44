"""Every format there is, by name."""

from vocabulary.formats import (
    agentnet,
    atif,
    canonical,
    huggingface,
    llama_factory,
    osworld,
    trl,
    ui_tars,
    verl,
    webdataset,
)
from vocabulary.formats.record import Format

FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        canonical.FORMAT,
        atif.FORMAT,
        agentnet.FORMAT,
        ui_tars.FORMAT,
        llama_factory.SFT,
        llama_factory.DPO,
        llama_factory.KTO,
        trl.SFT,
        trl.DPO,
        trl.KTO,
        trl.STEPWISE,
        verl.SFT,
        verl.RL,
        huggingface.FORMAT,
        webdataset.FORMAT,
        osworld.FORMAT,
    )
}


def format_named(name: str) -> Format:
    """The format of this name. Raises ValueError for an unknown one."""
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}: there are {', '.join(FORMATS)}")
    return FORMATS[name]
