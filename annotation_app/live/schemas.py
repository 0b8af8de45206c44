"""What is told of streams."""

from protocol.base import FrozenModel


class IceServerOut(FrozenModel):
    """A STUN or TURN server, as a browser's peer connection takes it."""

    urls: tuple[str, ...]
    username: str
    credential: str
