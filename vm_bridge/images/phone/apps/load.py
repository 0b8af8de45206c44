"""Puts a start state into the running phone: `load.py FILE`. Fails with the server's words when it is refused."""

import json
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SECONDS = 10.0


def main() -> None:
    manifest = json.loads(Path(__file__).with_name("manifest.json").read_text(encoding="utf-8"))
    address = f"http://127.0.0.1:{manifest['server']['port']}/api/state"
    try:
        urlopen(Request(address, data=Path(sys.argv[1]).read_bytes(), method="PUT"), timeout=SECONDS).close()
    except HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode('utf-8', 'replace')}")


if __name__ == "__main__":
    main()
