"""What a sandbox reaches, from inside a real one, and what it does not."""

import asyncio
import socket
import subprocess

import pytest

from tests.integration.network.conftest import OUTSIDE, SECRET, Internet, Run, task
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Sandbox

PROXY = "curl --silent --max-time 20 --noproxy '' --proxy http://127.0.0.1:3128"
CHROMIUM = "chromium --headless --dump-dom --virtual-time-budget=5000"


async def test_an_allowed_host_is_reached_by_curl_python_and_through_a_tunnel(
    internet: Internet, machine: Machine, run: Run
) -> None:
    await machine.prepare(task(f"allowed.example:{internet.port}"))
    url = f"http://allowed.example:{internet.port}/page?x=1"
    assert "hello from outside" in await run(f"curl --silent {url}")
    assert internet.asked[-1].startswith(b"GET /page?x=1 HTTP/1.1\r\nHost: allowed.example:")
    assert "hello from outside" in await run(f"curl --silent --proxytunnel {url}")
    python = f"import urllib.request; print(urllib.request.urlopen('{url}').read())"
    assert "hello from outside" in await run(f'python3 -c "{python}"')


@pytest.mark.slow
async def test_the_browser_inside_reaches_it_too_and_shows_what_is_refused(
    internet: Internet, machine: Machine, run: Run
) -> None:
    await machine.prepare(task(f"allowed.example:{internet.port}"))
    assert "hello from outside" in await run(f"{CHROMIUM} http://allowed.example:{internet.port}/")
    assert "host_not_allowed" in await run(f"{CHROMIUM} http://other.example:{internet.port}/")


async def test_everything_else_is_refused_with_a_code(internet: Internet, machine: Machine, run: Run) -> None:
    await machine.prepare(task(f"allowed.example:{internet.port}", "unknown.invalid"))
    refused = {
        f"http://other.example:{internet.port}/": "host_not_allowed",
        f"http://sub.allowed.example:{internet.port}/": "host_not_allowed",
        "http://allowed.example/": "port_not_allowed",
        "http://unknown.invalid/": "unresolved",
        "ftp://allowed.example/": "bad_request",
    }
    for url, code in refused.items():
        assert code in await run(f"{PROXY} {url}"), url
    assert not internet.asked


async def test_without_a_list_there_is_no_network(internet: Internet, machine: Machine, run: Run) -> None:
    await machine.prepare(task())
    assert "network_off" in await run(f"{PROXY} http://allowed.example:{internet.port}/")


async def test_who_ends_the_process_that_carries_bytes_gets_a_new_one(
    internet: Internet, machine: Machine, run: Run
) -> None:
    await machine.prepare(task(f"allowed.example:{internet.port}"))
    url = f"http://allowed.example:{internet.port}/"
    assert "hello from outside" in await run(f"{PROXY} {url}")
    await run("pkill --full guest.linux.port_forwarder")
    assert "hello from outside" in await run(f"{PROXY} {url}")


async def test_what_a_task_may_reach_ends_with_it(internet: Internet, sandbox: Sandbox, run: Run) -> None:
    url = f"http://allowed.example:{internet.port}/"
    machine = sandbox.bind(1)
    await machine.prepare(task(f"allowed.example:{internet.port}"))
    assert "hello from outside" in await run(f"{PROXY} {url}")
    await machine.prepare(task())
    assert "network_off" in await run(f"{PROXY} {url}")
    await machine.prepare(task(f"allowed.example:{internet.port}"))
    await sandbox.reset()
    assert await reached_after_reset(sandbox, url) == "network_off"


async def reached_after_reset(sandbox: Sandbox, url: str) -> str:
    connection = await sandbox.dial(3128)
    loop = asyncio.get_running_loop()
    with connection:
        await loop.sock_sendall(connection, f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        answer = b""
        while chunk := await loop.sock_recv(connection, 4096):
            answer += chunk
    return "network_off" if b"network_off" in answer else answer.decode()


def own_addresses() -> list[str]:
    """Every IPv4 address of this machine."""
    told = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=True).stdout.split()
    return [address for address in told if ":" not in address]


async def test_the_hosts_own_services_are_out_of_reach_by_whatever_name(
    internet: Internet, host_secret: int, machine: Machine, run: Run
) -> None:
    hosts = ["127.0.0.1", "localhost", socket.gethostname(), "0.0.0.0", "127.1", "2130706433", "0x7f000001"]
    hosts += own_addresses()
    internet.names["rebound.example"] = ("127.0.0.1",)
    internet.names["half.example"] = (OUTSIDE, "127.0.0.1")
    internet.names["mapped.example"] = ("::ffff:127.0.0.1",)
    hosts += ["rebound.example", "half.example", "mapped.example"]
    patterns = [f"{host.lower()}:{host_secret}" for host in hosts]
    await machine.prepare(task(*patterns))
    for host in hosts:
        answer = await run(f"{PROXY} http://{host}:{host_secret}/")
        assert "address_not_public" in answer, (host, answer)
        answer = await run(f"{PROXY} --proxytunnel -v http://{host}:{host_secret}/ 2>&1")
        assert "403" in answer, (host, answer)
        assert SECRET not in answer
    assert SECRET not in await run(f"{PROXY} http://[::1]:{host_secret}/")
    assert SECRET not in await run(f"{PROXY} http://[::ffff:127.0.0.1]:{host_secret}/")


async def test_an_allowed_host_cannot_send_anyone_to_the_host(internet: Internet, machine: Machine, run: Run) -> None:
    internet.names["inside.example"] = ("127.0.0.1",)
    await machine.prepare(task(f"allowed.example:{internet.port}", f"inside.example:{internet.port}"))
    answer = await run(f"{PROXY} --location http://allowed.example:{internet.port}/to-the-host")
    assert "address_not_public" in answer


async def test_the_address_that_was_checked_is_the_one_that_is_asked(
    internet: Internet, machine: Machine, run: Run
) -> None:
    internet.fickle["fickle.example"] = [(OUTSIDE,), ("127.0.0.1",)]
    await machine.prepare(task(f"fickle.example:{internet.port}"))
    assert "hello from outside" in await run(f"{PROXY} http://fickle.example:{internet.port}/")
    assert internet.fickle["fickle.example"] == [("127.0.0.1",)]
    assert "address_not_public" in await run(f"{PROXY} http://fickle.example:{internet.port}/")


async def test_there_is_no_way_around_the_proxy(
    internet: Internet, host_secret: int, machine: Machine, run: Run
) -> None:
    await machine.prepare(task(f"allowed.example:{internet.port}"))
    addresses = [(OUTSIDE, internet.port), *((address, host_secret) for address in ("127.0.0.1", *own_addresses()))]
    program = f"""
import socket
for address in {[*addresses, ("1.1.1.1", 53)]}:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as s:
            s.settimeout(2)
            try:
                s.connect(address)
                s.send(b'x')
                print(kind.name, s.recv(100))
            except OSError as error:
                print('no way', type(error).__name__)
"""
    answer = await run(f"python3 - <<'END'\n{program}\nEND")
    assert answer.count("no way") == 2 * (len(addresses) + 1), answer
    assert "Temporary failure" in await run("getent hosts example.org || echo Temporary failure")


@pytest.mark.parametrize("kind", ["AF_PACKET", "SOCK_RAW"])
async def test_raw_sockets_are_forbidden(machine: Machine, run: Run, kind: str) -> None:
    made = {"AF_PACKET": "socket.AF_PACKET, socket.SOCK_RAW", "SOCK_RAW": "socket.AF_INET, socket.SOCK_RAW, 1"}[kind]
    await machine.prepare(task())
    assert "PermissionError" in await run(f'python3 -c "import socket; socket.socket({made})" 2>&1')
