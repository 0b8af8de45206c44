"""What stands before several web processes."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from annotation_app.live.mcp_server_trials import MACHINE_WAIT_SECONDS, TRIAL_SECONDS
from annotation_app.operations.runtime.nginx import TRIAL_TIMEOUT, NginxConfig, main, render_nginx_config
from annotation_app.operations.runtime.stack import ROOT

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
PROXY = NginxConfig(name="pilothouse.test", web=("a:8000", "b:8000"), bridges=("c:8010",), gateways=("d:8011",))
FOR_COMPOSE = (
    "--name _ --web web-1:8000 --web web-2:8000 --bridge bridge:8010 --vnc vnc:8011 --listen 8443 --redirect 8080 "
    "--certificate /etc/nginx/certificates/fullchain.pem --key /etc/nginx/certificates/privkey.pem"
)


def test_every_web_process_serves_pages_and_desks() -> None:
    assert render_nginx_config(PROXY).count("server a:8000 ") == render_nginx_config(PROXY).count("server b:8000 ") == 2


def test_what_browsers_say_of_themselves_is_not_passed_on() -> None:
    text = render_nginx_config(PROXY)
    assert "X-Forwarded-Proto $scheme;" in text
    assert "X-Forwarded-For $remote_addr;" in text
    assert "$http_x_forwarded" not in text


def test_a_trial_of_an_mcp_server_ends_before_the_proxy_gives_up() -> None:
    trial = render_nginx_config(PROXY).split("/trial$ {")[1].split("}")[0]
    assert f"proxy_read_timeout {TRIAL_TIMEOUT};" in trial
    assert int(TRIAL_TIMEOUT.removesuffix("s")) > MACHINE_WAIT_SECONDS + TRIAL_SECONDS + 15, "and frees the machine"


def test_tickets_are_in_no_log() -> None:
    text = render_nginx_config(PROXY)
    assert not [word for word in ("$request ", "$request'", "$request_uri $", "$args", "$http_cookie") if word in text]


def test_the_bridges_own_calls_are_not_let_through() -> None:
    bridge = render_nginx_config(PROXY).split("listen 8010;")[1].split("listen 8011;")[0]
    assert "location ~ ^/(streams|sandboxes)/" in bridge
    assert "location / {\n            return 404;" in bridge


def test_without_a_certificate_there_is_no_tls() -> None:
    assert "ssl" not in render_nginx_config(PROXY)
    sure = render_nginx_config(replace(PROXY, certificate=Path("chain.pem"), key=Path("key.pem")))
    assert sure.count(" ssl;") == 3


def test_a_certificate_needs_its_key() -> None:
    with pytest.raises(SystemExit):
        main(["--name", "x", "--web", "a:1", "--certificate", "chain.pem"])


def test_each_bridge_host_has_a_name_of_its_own() -> None:
    several = replace(
        PROXY,
        bridges=("h1=c:8010", "ray-0-ab-1=e:8010"),
        gateways=("h1=c:8011", "ray-0-ab-1=e:8011"),
        bridge_name="{bridge}.streams.pilothouse.test",
    )
    blocks = render_nginx_config(several).split("server {")
    at = {
        words[words.index("server_name") + 1].rstrip(";"): words[words.index("proxy_pass") + 1].rstrip(";")
        for words in (block.split() for block in blocks)
        if "8010;" in words
    }
    assert at == {
        "h1.streams.pilothouse.test": "http://c:8010",
        "ray-0-ab-1.streams.pilothouse.test": "http://e:8010",
    }


def test_several_bridges_without_names_are_refused() -> None:
    with pytest.raises(SystemExit):
        main(["--name", "x", "--web", "a:1", "--bridge", "h1=c:1", "--bridge", "h2=d:1"])


def test_the_compose_files_is_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(FOR_COMPOSE.split())
    assert capsys.readouterr().out == (ROOT / "docker" / "nginx.conf").read_text(), (
        f"write it again: python -m annotation_app.operations.runtime.nginx {FOR_COMPOSE} > docker/nginx.conf"
    )


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_takes_it(tmp_path: Path) -> None:
    assert NGINX is not None
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", chain, "-days", "2",
         "-subj", "/CN=pilothouse.test"], check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    local = NginxConfig(
        name="pilothouse.test", web=("127.0.0.1:1", "127.0.0.1:2"), bridges=("h1=127.0.0.1:3", "h2=127.0.0.1:5"),
        gateways=("h1=127.0.0.1:4", "h2=127.0.0.1:6"),
        bridge_name="{bridge}.streams.pilothouse.test",
        listen="127.0.0.1:8443", redirect="127.0.0.1:8080", certificate=chain, key=key, folder=tmp_path,
        log=str(tmp_path / "access.log"),
    )  # fmt: skip
    (tmp_path / "nginx.conf").write_text(render_nginx_config(local))
    said = subprocess.run(
        [NGINX, "-t", "-c", tmp_path / "nginx.conf"], capture_output=True, text=True, timeout=60, check=False
    )
    assert said.returncode == 0, said.stderr
