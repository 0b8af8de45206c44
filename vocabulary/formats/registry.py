"""Every format there is, by name: those that are written, and those that are read."""

from vocabulary.formats import (
    agentnet,
    agentnet_reader,
    atif,
    atif_reader,
    canonical,
    huggingface,
    llama_factory,
    osworld,
    trl,
    ui_tars,
    verl,
    webdataset,
)
from vocabulary.formats.incoming import Reader
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


READERS: dict[str, Reader] = {one.name: one for one in (canonical.READER, atif_reader.READER, agentnet_reader.READER)}


def format_named(name: str) -> Format:
    """The format of this name. Raises ValueError for an unknown one."""
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}: there are {', '.join(FORMATS)}")
    return FORMATS[name]
