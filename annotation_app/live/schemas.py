"""Schemas of streams."""

from protocol.base import FrozenModel


class IceServerOut(FrozenModel):
    """A STUN or TURN server, in the form that a browser's peer connection takes."""

    urls: tuple[str, ...]
    username: str
    credential: str
