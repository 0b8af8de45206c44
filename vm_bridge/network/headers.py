"""Names of HTTP headers that a proxy must know."""

HOP_BY_HOP_HEADERS = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"proxy-authenticate", b"te"}
    | {b"trailer", b"transfer-encoding", b"upgrade"}
)
"""Headers of one connection only (RFC 9110, section 7.6.1), in lower case."""
