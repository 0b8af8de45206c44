"""Every format there is, by name: those that are written, and those that are read."""

from protocol.formats import (
    agentnet,
    agentnet_reader,
    atif,
    atif_reader,
    canonical,
    ct_documents,
    huggingface,
    llama_factory,
    osworld,
    recording_reader,
    trl,
    ui_tars,
    verl,
    webdataset,
)
from protocol.formats.records import ExportFormat
from protocol.formats.row_readers import RowReader

FORMATS: dict[str, ExportFormat] = {
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
        ct_documents.FORMAT,
    )
}


READERS: dict[str, RowReader] = {
    one.name: one for one in (canonical.READER, atif_reader.READER, agentnet_reader.READER, recording_reader.READER)
}


def get_format(name: str) -> ExportFormat:
    """The format of this name. Raises ValueError for an unknown one."""
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}: there are {', '.join(FORMATS)}")
    return FORMATS[name]
