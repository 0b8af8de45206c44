"""Makes the secrets of a compose installation, once: `python3 docker/keys.py HOST-NAME [FOLDER]`.

Each is a file that the compose file hands to the programs that need it. The folder is its owner's alone; the files in
it are readable to all, because the users inside the containers are others. What is there already stays, but for
`bridge_keys` and `redis_users`, which follow the secrets that they are made of.

The folder is the one that compose takes: what PILOTHOUSE_SECRETS says, exported or in `.env` beside the compose file,
from where that file is; else `secrets` beside it. `python3 docker/keys.py --where` prints it.
"""

import argparse
import json
import os
import re
import runpy
import secrets
import socket
from collections.abc import Callable, Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

BESIDE = Path(__file__).resolve().parent
"""Where the compose file is, and its `.env`."""
REDIS_USERS = BESIDE.parent / "annotation_app" / "operations" / "runtime" / "redis_users.py"
HOST_KEYS = BESIDE.parent / "vm_bridge" / "host_keys.py"
BRIDGE_HOST_ID = "bridge"
"""PILOTHOUSE_HOST_ID of the bridge in the compose file."""
VARIABLE = "PILOTHOUSE_SECRETS"
LINE = re.compile(rf"^\s*(?:export\s+)?{VARIABLE}\s*=(.*)$", re.MULTILINE)
BYTES = 32
DATABASE = "postgresql://pilothouse:{password}@{server}/pilothouse"


class UnreadableError(Exception):
    """`.env` names a folder in a way that only compose understands."""


def folder_of(beside: Path, environment: Mapping[str, str]) -> Path:
    """The folder that compose takes secrets from. Raises UnreadableError."""
    named = environment.get(VARIABLE)
    if named is None:
        file = beside / ".env"
        lines = LINE.findall(file.read_text()) if file.exists() else []
        named = _value(lines[-1].strip()) if lines else ""
    return beside / (Path(named).expanduser() if named else "secrets")


def _value(text: str) -> str:
    """What a line says, in quotes or not, without the comment behind it. Raises UnreadableError."""
    quote = text[:1]
    if quote and quote in "'\"":
        value, closed, rest = text[1:].partition(quote)
        whole = bool(closed) and re.fullmatch(r"\s*(#.*)?", rest) is not None
    else:
        value, whole = re.split(r"(?:^|\s+)#", text, maxsplit=1)[0], True
    if not whole or "$" in value or "\\" in value:
        raise UnreadableError(f"{VARIABLE}={text} in .env: write the folder itself, without $ and \\")
    return value


def _random() -> str:
    return secrets.token_urlsafe(BYTES)


def secrets_make(folder: Path, host: str) -> tuple[str, ...]:
    """Write those that are missing; their names."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    made: list[str] = []

    def write(name: str, text: str, mode: int = 0o444) -> None:
        aside = folder / f".{name}.new"
        aside.write_text(text)
        aside.chmod(mode)
        aside.rename(folder / name)
        made.append(name)

    def keep(name: str, make: Callable[[], str], mode: int = 0o444) -> str:
        if not (folder / name).exists():
            write(name, make(), mode)
        return (folder / name).read_text()

    def derive(name: str, text: str) -> None:
        """Follow the secrets that a file is made of, and the rules of this version."""
        if not (folder / name).exists() or (folder / name).read_text() != text:
            write(name, text)

    keep("secret_key", _random)
    master = keep("bridge_secret", _random)
    keys = runpy.run_path(str(HOST_KEYS))
    derive("bridge_keys", keys["format_keys"](master.strip(), (keys["MANAGER"], BRIDGE_HOST_ID)))
    keep("credentials_keys", _random)
    keep("pseudonym_key", _random)
    password = keep("postgres_password", _random)
    keep("database_url", lambda: DATABASE.format(password=password, server="pooler:6432"))
    keep("database_url_direct", lambda: DATABASE.format(password=password, server="postgres:5432"))
    keep("pooler_users", lambda: f'"pilothouse" "{password}"\n')
    derive("redis_users", _redis_users(keep))
    turn = keep("turn_secret", _random)
    server = {"urls": [f"turn:{host}:3478?transport=udp", f"turn:{host}:3478?transport=tcp"], "secret": turn}
    keep("ice_servers", lambda: json.dumps([server]))
    keep("turn", lambda: TURN.format(host=host, secret=turn, peers=_peers(host)))
    keep("environment", lambda: SETTINGS, mode=0o644)
    return tuple(made)


def _redis_users(keep: Callable[[str, Callable[[], str]], str]) -> str:
    """The Redis users of the operator, the platform and the bridge, whose passwords are kept."""
    users = runpy.run_path(str(REDIS_USERS))
    operator = keep("redis_password", _random).strip()
    keep("redis_config", lambda: f"requirepass {operator}\nmaxmemory-policy noeviction\nappendonly yes\ndir /data\n")
    passwords = {users["OPERATOR"]: operator}
    for user in (users["PLATFORM"], users["BRIDGE"]):
        address = f"redis://{user}:{_random()}@redis:6379/0"
        passwords[user] = urlsplit(keep(f"redis_url_{user}", lambda address=address: address).strip()).password
    return users["user_lines"](passwords)


def _peers(host: str) -> str:
    """Where coturn relays to: not into private networks, but to itself where its host has a private address."""
    try:
        own = {str(found[4][0]) for found in socket.getaddrinfo(host, None)}
    except OSError:
        own = set()
    private = sorted(each for each in own if any(_lies_in(each, network) for network in PRIVATE_NETWORKS))
    denied = [f"denied-peer-ip={network[0]}-{network[-1]}" for network in map(ip_network, DENIED_NETWORKS)]
    return "\n".join([*denied, *(f"allowed-peer-ip={each}" for each in private)])


def _lies_in(address: str, network: str) -> bool:
    return ip_address(address.partition("%")[0]) in ip_network(network)


PRIVATE_NETWORKS = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
DENIED_NETWORKS = (
    *PRIVATE_NETWORKS,
    *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "198.18.0.0/15", "224.0.0.0/3"),
    *("::1/128", "::ffff:0:0/96", "64:ff9b::/96", "fe80::/10", "ff00::/8"),
)
"""Addresses that lead into networks of the operator's, to the host itself, or to everybody (RFC 6890). coturn takes a
range that begins with `::` for all addresses."""

SETTINGS = """\
# Settings of this installation beside those of docker/compose.yaml, for web, workers and bridge, one NAME=value a line.
# .env.example has them all: mail, single sign-on, a bucket and its AWS_ credentials, machines that stand ready, ...
"""

TURN = """\
listening-port=3478
min-port=49160
max-port=50159
realm={host}
use-auth-secret
static-auth-secret={secret}
fingerprint
no-cli
no-multicast-peers
# Streams are datagrams. Whoever has a pass could talk to databases and programs by streams of bytes.
no-tcp-relay
# A relay into the house would be a way past its walls: it leads to public addresses, and between passes of its own.
{peers}
pidfile=/tmp/turnserver.pid
userdb=/tmp/turndb
log-file=stdout
simple-log
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the secrets of a compose installation, once.")
    parser.add_argument("host", nargs="?", help="the host name people use")
    parser.add_argument("folder", type=Path, nargs="?", help="where they go; else where compose looks for them")
    parser.add_argument("--where", action="store_true", help="only print where compose looks for them")
    given = parser.parse_args()
    if (given.host is None) != given.where:
        parser.error("a host name, or --where")
    try:
        folder = given.folder or folder_of(BESIDE, os.environ)
    except UnreadableError as error:
        parser.error(str(error))
    if given.where:
        print(folder)
        return
    made = secrets_make(folder, given.host)
    print(f"{folder}: made {', '.join(made) or 'nothing, all were there'}")


if __name__ == "__main__":
    main()
