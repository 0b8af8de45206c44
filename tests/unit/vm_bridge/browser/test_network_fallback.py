"""What is not of the site is asked of the network, where the task allows it."""

import asyncio
from pathlib import Path

from tests.servers import served_port
from vm_bridge.browser import Request, StaticSite
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.proxied_site import ProxiedSite


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(4) if b"POST" in head else b""
    said = head.split(b"\r\n")[0] + b" " + body
    writer.write(b"HTTP/1.1 201 Made\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said))
    await writer.drain()
    writer.close()


async def _local(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def test_allowed_hosts_are_asked_and_others_are_the_sites(tmp_path: Path) -> None:
    async with served_port(_serve) as port:
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / "index.html").write_text("site")
        allowed = [f"outside.example:{port}"]
        egress = EgressProxy("test", allowed, resolver=_local, public=lambda address: True)
        outside = await ProxiedSite(
            StaticSite({"site.test": tmp_path / "site"}), allowed, tmp_path / "proxy", egress
        ).open()
        try:
            url = f"http://outside.example:{port}/a?b=c#d"
            got = await outside.answer(Request("POST", url, {"X": "y"}, b"body", "Fetch"))
            assert (got.status, got.body) == (201, b"POST /a?b=c HTTP/1.1 body")
            assert (await outside.answer(Request("GET", "http://site.test/", {}, b"", "Document"))).body == b"site"
            other = await outside.answer(Request("GET", "http://else.example/", {}, b"", "Document"))
            assert other.failure == "NameNotResolved"
            port_closed = await outside.answer(Request("GET", "http://outside.example/", {}, b"", "Fetch"))
            assert port_closed.status == 403
        finally:
            await outside.close()


async def test_a_task_that_may_reach_every_host_keeps_its_own_site(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("site")
    egress = EgressProxy("test", ["*"], resolver=_local, public=lambda address: True)
    outside = await ProxiedSite(StaticSite({"site.test": tmp_path / "site"}), ["*"], tmp_path / "proxy", egress).open()
    try:
        assert (await outside.answer(Request("GET", "http://site.test/", {}, b"", "Document"))).body == b"site"
    finally:
        await outside.close()
