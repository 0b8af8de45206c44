"""Known secrets of every kind go through the platform; then they are looked for where they must not be."""

import base64
import json
import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from benchmarks.parts.figures import print_progress
from benchmarks.parts.safety.requests import JSON, Answer, HttpConnection, Session

FAILURE = 400
LEAST_LENGTH = 12
"""Shorter values would be found by chance."""
AROUND = 60
POOL_VALUE = "value of a pool"
ENVIRONMENT_NAMES = ("PILOTHOUSE_BRIDGE_MASTER_KEY", "PILOTHOUSE_SECRET_KEY")


def random_secret() -> str:
    """A value that nothing else holds."""
    return f"planted{secrets.token_hex(16)}"


@dataclass
class PlantedSecrets:
    """What was planted, by kind, and pages that must not have it: errors, and what is stored of a step."""

    values: dict[str, str] = field(default_factory=dict)
    pages: list[tuple[str, bytes]] = field(default_factory=list)

    def plant(self, kind: str, value: str) -> str:
        """Note a secret."""
        if len(value) >= LEAST_LENGTH:
            self.values[kind] = value
        return value

    def told(self, where: str, answer: Answer) -> Answer:
        """Keep an answer that says what went wrong."""
        if answer.status >= FAILURE:
            self.pages.append((where, answer.body))
        return answer

    def found_in(self, texts: Iterable[tuple[str, bytes]]) -> Counter[str]:
        """How many secrets each text holds, in any of their spellings, by the text's name."""
        needles = [(kind, needle) for kind, value in self.values.items() for needle in spellings(value)]
        found: Counter[str] = Counter()
        for where, text in texts:
            held = {kind: needle for kind, needle in needles if needle in text}
            for kind, needle in held.items():
                found[where] += 1
                print_progress(f"the secret {kind} is in {where}: {_around(needle, text)}")
        return found


def _around(needle: bytes, text: bytes) -> str:
    """What stands before and behind a secret, without it."""
    before, _, behind = text.partition(needle)
    around = before[-AROUND:] + b"(it)" + behind[:AROUND]
    return around.decode(errors="replace").replace("\n", " ")


def spellings(value: str) -> set[bytes]:
    """A value as it is, in an address, in JSON, in base64 and in hexadecimal digits."""
    raw = value.encode()
    return {
        raw,
        quote(value, safe="").encode(),
        json.dumps(value)[1:-1].encode(),
        base64.b64encode(raw).rstrip(b"="),
        raw.hex().encode(),
    }


def plant_platform_secrets(planted: PlantedSecrets, data: Path, environment: Mapping[str, str]) -> None:
    """Those that an installation makes for itself."""
    for name, value in json.loads((data / "secrets.json").read_text()).items():
        planted.plant(f"installation secret {name}", value)
    for name in ENVIRONMENT_NAMES:
        planted.plant(name, environment.get(name, ""))
    key = data / "credentials_key"
    planted.plant("credentials key", key.read_text() if key.exists() else "")


@dataclass
class SecretsUser:
    """Somebody who uses every kind of secret at a web process, rightly and wrongly."""

    connection: HttpConnection
    planted: PlantedSecrets
    admin: Session
    admin_password: str
    pool: int

    def use_all(self) -> None:
        """Every kind."""
        self._invite_and_sign_in()
        self._store()
        self._use_tokens()
        self._second_factor()

    def _call(self, method: str, target: str, session: Session, value: Any = None) -> Any:
        answer = self.planted.told(f"{method} {target}", self.connection.call(method, target, session, value))
        return json.loads(answer.body) if answer.kind == JSON and answer.body else None

    def _send(self, method: str, target: str, session: Session, body: bytes, **headers: str) -> None:
        sent = {**session.headers(), "Content-Type": JSON, **headers}
        self.planted.told(f"{method} {target}", self.connection.send(method, target, sent, body))

    def _invite_and_sign_in(self) -> None:
        made = self._call("POST", "/api/invitations", self.admin, {"roles": ["annotator"]})
        invitation = self.planted.plant("invitation", made["link"].rpartition("#")[2])
        password = self.planted.plant("password", random_secret())
        self.planted.plant("session of the admin", self.admin.cookie)
        stranger = Session(csrf=self.planted.plant("CSRF token", secrets.token_hex(16)))
        self._call("POST", "/api/join/invitation", stranger, {"secret": invitation})
        self._call("POST", "/api/join/invitation", stranger, {"secret": f"{invitation}x"})
        self._call("POST", "/api/join", stranger, {"secret": invitation, "username": 7, "password": [password]})
        account = {"secret": invitation, "username": "joined", "name": "Joined", "password": password}
        self._call("POST", "/api/join", stranger, account)
        self._call("POST", "/api/join", stranger, account)
        for given in ({"username": "joined", "password": f"{password}x"}, {"username": password, "password": password},
                      {"password": password}, {"username": "joined", "password": {"value": password}}):  # fmt: skip
            self._call("POST", "/api/session", stranger, given)
        self._send("POST", "/api/session", stranger, b'{"username": "joined", "password": "' + password.encode())
        self._send("POST", "/admin/login/", stranger, f"username=joined&password={password}".encode(),
                   **{"Content-Type": "application/x-www-form-urlencoded"})  # fmt: skip
        self._call("POST", "/api/session", stranger, {"username": "joined", "password": password})

    def _store(self) -> None:
        value = self.planted.plant(POOL_VALUE, random_secret())
        stored = {"value": value, "kinds": ["run_command"]}
        for given in (stored, {"value": [value]}, {"value": value, "kinds": [value]}):
            self._call("POST", f"/api/pools/{self.pool}/credentials/PLANTED", self.admin, given)
        key = self.planted.plant("API key", random_secret())
        policy = {"name": "keyed", "revision": "1", "dialect": "ui_tars_1_5", "model": "m", "api_key": key}
        self._call("POST", "/api/policies", self.admin, {**policy, "base_url": "http://127.0.0.1:9/v1"})
        self._call("POST", "/api/policies", self.admin, {**policy, "base_url": "no address"})
        probe = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "dialect": "ui_tars_1_5"}
        self._call("POST", "/api/probes", self.admin, probe)
        self._call("GET", "/api/health/parts", self.admin)
        hook = self._call(
            "POST", "/api/webhooks", self.admin, {"url": "https://192.0.2.1/hook", "events": ["export.finished"]}
        )
        if hook and "secret" in hook:
            self.planted.plant("secret of a webhook", hook["secret"])
            self._call("POST", f"/api/webhooks/{hook['webhook']['id']}/ping", self.admin)

    def _use_tokens(self) -> None:
        self._call("POST", "/api/me/reauthenticate", self.admin, {"password": self.admin_password})
        made = self._call("POST", "/api/me/tokens", self.admin, {"name": "planted", "scopes": ["*:read"], "days": 1})
        token = self.planted.plant("token", made["token"])
        for target in ("/api/feed", "/api/episodes", "/api/exports", "/nowhere", "/api/nowhere", "/api/feed/%00"):
            for scheme in ("Bearer", "bearer", "Token", "Basic"):
                self._send("GET", target, Session(), b"", Authorization=f"{scheme} {token}")
        self._send("GET", f"/api/feed?token={token}&access_token={token}", Session(bearer=f"{token}x"), b"")
        self._send("POST", "/api/exports", Session(bearer=token), token.encode())
        self._send("GET", "/api/queue", Session(cookie=token), b"")

    def _second_factor(self) -> None:
        setup = self._call("POST", "/api/me/factor", self.admin)
        key = self.planted.plant("key of a second factor", setup["secret"])
        self._call("POST", "/api/me/factor/confirm", self.admin, {"code": "000000"})
        seed = base64.b32decode(key + "=" * (-len(key) % 8))
        code = TOTP(seed, 6, SHA1(), 30, enforce_key_length=False).generate(int(time.time())).decode()  # noqa: S303 - as in RFC 6238
        confirmed = self._call("POST", "/api/me/factor/confirm", self.admin, {"code": code})
        for number, recovery in enumerate((confirmed or {}).get("codes", ())):
            self.planted.plant(f"recovery code {number}", recovery)
            self._call(
                "POST", "/api/me/reauthenticate", self.admin, {"password": self.admin_password, "code": recovery}
            )


def log_files(*folders: Path) -> Iterator[tuple[str, bytes]]:
    """What programs wrote: every file whose name ends with `.log`, and all files of folders called `logs`."""
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and (file.suffix == ".log" or "logs" in file.parent.parts):
                yield str(file.relative_to(folder)), file.read_bytes()


def process_lists() -> Iterator[tuple[str, bytes]]:
    """The command line of every process that this one may see, as `ps` shows them."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and entry.name != str(os.getpid()):
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                continue
            name = re.sub(r"[^\w./-].*", "", line.decode(errors="replace"))[:60]
            yield f"the command line of {name}", line
