"""Browser addresses of bridge hosts, from templates with `{host}`, `{bridge}` and `{machine}`."""

import re
from urllib.parse import urlsplit

HOST_PLACEHOLDER = re.compile(r"\{(?:bridge|machine)\}")


def bridge_label(host_id: str) -> str:
    """A bridge host's id as one label of a host name."""
    return re.sub(r"[^a-z0-9-]+", "-", host_id).strip("-")


def public_url(pattern: str, *, host: str = "", bridge: str = "", machine: str = "") -> str:
    """The address of one bridge host. `host` is the name that the browser used for the web app, `bridge` the id of the
    host that has the machine, `machine` the machine's name."""
    values = {"{host}": host, "{bridge}": bridge_label(bridge), "{machine}": machine}
    for name, value in values.items():
        pattern = pattern.replace(name, value)
    return pattern.rstrip("/")


def public_csp_source(pattern: str, *, host: str) -> str:
    """The possible origins of such an address, as a source of a content security policy. `*` stands for everything
    up to the end of the label with the last placeholder (CSP3, 2.3.1: a wildcard matches any number of labels, at the
    front only)."""
    address = urlsplit(pattern.replace("{host}", host))
    *named, fixed = HOST_PLACEHOLDER.split(address.netloc)
    return f"{address.scheme}://{'*' if named else ''}{fixed[fixed.find('.') :] if named else fixed}"
