"""What is told of streams."""

from vocabulary.base import Frozen


class IceServerOut(Frozen):
    """A STUN or TURN server, as a browser's peer connection takes it."""

    urls: tuple[str, ...]
    username: str
    credential: str
