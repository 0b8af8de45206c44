"""Errors of requests to a remote machine."""


class TransportError(Exception):
    """The machine, or the connection to it, failed a request. Whether it was executed is unknown."""
