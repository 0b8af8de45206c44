"""How what a machine is asked over its wire can fail."""


class TransportError(Exception):
    """The machine, or what leads to it, did not do what it was asked: whether it happened is not known."""
