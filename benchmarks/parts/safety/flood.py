"""Signs in again and again from many loopback addresses: `python -m benchmarks.parts.safety.flood ADDRESS SECONDS`.

A process of its own, so that it takes nothing but processor time from whoever measures. Prints how many answers had
each status, as JSON.
"""

import json
import secrets
import sys
import threading
import time
from collections import Counter

from benchmarks.parts.safety.requests import JSON, Session, http_connection

CONNECTIONS = 24
PER_SECOND = 20
"""Sign-ins of each connection: twice what the proxy takes from one address."""


def main() -> None:
    address, seconds = sys.argv[1], float(sys.argv[2])
    statuses: list[int] = []
    end = time.monotonic() + seconds
    threads = [
        threading.Thread(target=_sign_in, args=(address, f"127.0.1.{number + 1}", end, statuses))
        for number in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(Counter(statuses)))


def _sign_in(address: str, source: str, end: float, statuses: list[int]) -> None:
    """Names and passwords of nobody, each sent once."""
    headers = {**Session(csrf=secrets.token_hex(16)).headers(), "Content-Type": JSON}
    with http_connection(address, source) as connection:
        due = time.monotonic()
        while due < end:
            body = json.dumps({"username": secrets.token_hex(8), "password": secrets.token_hex(8)}).encode()
            status = connection.send("POST", "/api/session", headers, body).status
            statuses.append(status)
            due = max(due + 1 / PER_SECOND, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main()
