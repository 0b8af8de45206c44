"""The nginx configuration in front of several web processes, generated from the programs' addresses.

`python -m annotation_app.operations.runtime.nginx` prints it. `docker/nginx.conf` is its output for the compose file.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

UPLOAD_PART_LIMIT = "9m"
"""Largest part of an upload; the web app's own limit is below it."""
UPLOAD_LIMIT = "33m"
"""Largest file in one request: small imports, tasks, task graphs, files for a machine. The web app's own limits are
below it."""
BODY_LIMIT = "1m"
"""Largest request body anywhere else. It is held in memory, never spooled to a file."""
BODY_BUFFER = "1100k"
"""For such a body with chunk framing."""
TRIAL_TIMEOUT = "120s"
"""Longer than `annotation_app.live.mcp_server_trials` takes to wait for a machine and to try a server."""
CONNECTION_LIMIT = 1000
"""Open connections from one address. The people of a laboratory may share one."""
REQUESTS_PER_SECOND = 200
"""Requests from one address, beyond a burst of twice as many."""
SIGN_INS_PER_SECOND = 10
"""Requests from one address that sign in, or read or accept an invitation."""

CONFIG_TEMPLATE = """\
# Written by `python -m annotation_app.operations.runtime.nginx`.
worker_processes auto;
pid {folder}/nginx.pid;
error_log stderr warn;

events {{
    worker_connections 4096;
}}

http {{
    include {types};
    server_tokens off;
    # Paths without what follows the question mark: tickets and passes are there.
    log_format paths '$remote_addr $request_method $uri $status $body_bytes_sent $request_time $upstream_addr';
    access_log {log} paths;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size {body};
    client_body_buffer_size {body_buffer};
    client_header_timeout 10s;
    client_body_timeout 15s;
    send_timeout 30s;
    reset_timedout_connection on;
    # A slow reader of a long answer holds the answer up, and fills no disk.
    proxy_max_temp_file_size 0;
    limit_conn_zone $binary_remote_addr zone=connections:10m;
    limit_req_zone $binary_remote_addr zone=requests:10m rate={requests}r/s;
    limit_req_zone $binary_remote_addr zone=sign_ins:10m rate={sign_ins}r/s;
    limit_conn_status 429;
    limit_req_status 429;
    limit_conn connections {connections};
    map $http_upgrade $upgrade {{
        default upgrade;
        '' '';
    }}

    proxy_http_version 1.1;
{headers}
    proxy_connect_timeout 2s;
    proxy_socket_keepalive on;
    # A process that is gone is passed over at once; what may have been done is not asked of a second one.
    proxy_next_upstream error timeout;

    upstream web {{
        least_conn;
{web}
    }}
    # All sockets of one episode meet in one process, so what one does the others hear without Redis between.
    upstream desks {{
        hash $uri consistent;
{web}
    }}
{tls}{servers}}}
"""
PROXY_HEADERS = """\
proxy_set_header Host $http_host;
proxy_set_header Upgrade $http_upgrade;
proxy_set_header Connection $upgrade;
# Set, never passed on: the web app takes them as the truth.
proxy_set_header Daphne-Root-Path "";
proxy_set_header X-Forwarded-Proto $scheme;
proxy_set_header X-Forwarded-For $remote_addr;
"""
TLS_TEMPLATE = """
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:sessions:10m;
    ssl_session_tickets off;
"""
REDIRECT_TEMPLATE = """
    server {{
        listen {listen};
        server_name {name};
        return 301 https://$host$request_uri;
    }}
"""
WEB_TEMPLATE = """
    server {{
        listen {listen};
        server_name {name};
        limit_req zone=requests burst={burst} nodelay;
        location / {{
            proxy_pass http://web;
        }}
        location ~ ^/api/(session|join)(/|$) {{
            limit_req zone=sign_ins burst={sign_ins_burst} nodelay;
            proxy_pass http://web;
        }}
        # A trial of an MCP server waits for a machine and for the server to start.
        location ~ ^/api/pools/[0-9]+/mcp-servers/[^/]+/trial$ {{
            proxy_pass http://web;
            proxy_read_timeout {trial_timeout};
        }}
        location /assets/ {{
            proxy_pass http://web;
            gzip on;
            gzip_proxied any;
            gzip_types text/css text/javascript application/javascript image/svg+xml;
        }}
        # Files come in from people who are signed in: that is asked before the first byte of a body is read.
        location = /signed-in {{
            internal;
            proxy_pass http://web/api/me/signed-in;
            client_max_body_size 0;
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
{headers}
        }}
        location @not-signed-in {{
            default_type application/json;
            return 401 '{{"code": "not_signed_in", "message": "Sign in first.", "extra": {{}}}}';
        }}
        location ~ ^/api/(imports|recorder)/uploads/[0-9a-f-]+$ {{
            auth_request /signed-in;
            error_page 401 = @not-signed-in;
            proxy_pass http://web;
            client_max_body_size {parts};
            proxy_request_buffering off;
        }}
        location ~ ^/api/(imports|pools/[0-9]+/tasks|design/graph|episodes/[0-9a-f-]+/uploads)$ {{
            auth_request /signed-in;
            error_page 401 = @not-signed-in;
            proxy_pass http://web;
            client_max_body_size {uploads};
            proxy_request_buffering off;
        }}
        location /ws/ {{
            proxy_pass http://desks;
            proxy_read_timeout 1h;
        }}
    }}
"""
BRIDGE_TEMPLATE = """
    server {{
        listen {listen};
        server_name {name};
        # What browsers ask, with tickets; calls with the secret come from the inside, past this proxy.
        location ~ ^/(streams|sandboxes)/ {{
            proxy_pass http://{address};
            proxy_read_timeout 1h;
            proxy_buffering off;
        }}
        location / {{
            return 404;
        }}
    }}
"""
GATEWAY_TEMPLATE = """
    server {{
        listen {listen};
        server_name {name};
        location / {{
            proxy_pass http://{address};
            proxy_read_timeout 1h;
            proxy_buffering off;
        }}
    }}
"""


@dataclass(frozen=True, slots=True)
class NginxConfig:
    """One nginx: the addresses (`host:port`) of its upstream programs, and its own listeners."""

    name: str
    """The public host name."""
    web: tuple[str, ...]
    bridges: tuple[str, ...] = ()
    """An address, or `label=address` for each of several; the label is its id in a host name."""
    gateways: tuple[str, ...] = ()
    """The VNC gateways of the bridges, in the same format."""
    bridge_name: str = ""
    """The host name of a bridge host, in which `{bridge}` is its label; empty: `name`."""
    listen: str = "443"
    bridge_listen: str = "8010"
    vnc_listen: str = "8011"
    certificate: Path | None = None
    """The certificate chain, PEM. None: no TLS, for tests and behind a proxy that terminates TLS."""
    key: Path | None = None
    redirect: str = ""
    """Listener that redirects plain HTTP to HTTPS; empty: none."""
    folder: Path = Path("/tmp")  # noqa: S108 - a tmpfs of the container's own
    """Folder for its PID file and buffers; writable by its user."""
    log: str = "/dev/stdout"
    types: Path = Path("/etc/nginx/mime.types")


def render_nginx_config(proxy: NginxConfig) -> str:
    """The complete configuration file."""
    use_tls = proxy.certificate is not None
    listening = {
        "name": proxy.name,
        "parts": UPLOAD_PART_LIMIT,
        "uploads": UPLOAD_LIMIT,
        "burst": 2 * REQUESTS_PER_SECOND,
        "sign_ins_burst": 5 * SIGN_INS_PER_SECOND,
        "trial_timeout": TRIAL_TIMEOUT,
        "headers": _indented(PROXY_HEADERS, 12),
    }
    servers = [WEB_TEMPLATE.format(listen=_listen_directive(proxy.listen, use_tls=use_tls), **listening)]
    if proxy.redirect:
        servers.append(REDIRECT_TEMPLATE.format(listen=proxy.redirect, name=proxy.name))
    for form, listen, places in (
        (BRIDGE_TEMPLATE, proxy.bridge_listen, proxy.bridges),
        (GATEWAY_TEMPLATE, proxy.vnc_listen, proxy.gateways),
    ):
        for place in places:
            bridge, _, address = place.rpartition("=")
            name = (proxy.bridge_name or proxy.name).replace("{bridge}", bridge)
            servers.append(form.format(listen=_listen_directive(listen, use_tls=use_tls), name=name, address=address))
    return CONFIG_TEMPLATE.format(
        folder=proxy.folder,
        log=proxy.log,
        types=proxy.types,
        body=BODY_LIMIT,
        body_buffer=BODY_BUFFER,
        connections=CONNECTION_LIMIT,
        requests=REQUESTS_PER_SECOND,
        sign_ins=SIGN_INS_PER_SECOND,
        headers=_indented(PROXY_HEADERS, 4),
        web="\n".join(f"        server {address} max_fails=1 fail_timeout=2s;" for address in proxy.web),
        tls=TLS_TEMPLATE.format(certificate=proxy.certificate, key=proxy.key) if use_tls else "",
        servers="".join(servers),
    )


def _indented(text: str, width: int) -> str:
    return indent(text, " " * width).rstrip("\n")


def _listen_directive(listen: str, *, use_tls: bool) -> str:
    return f"{listen} ssl" if use_tls else listen


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Print nginx's configuration for several web processes.")
    parser.add_argument("--name", required=True, help="the host name people use")
    parser.add_argument("--web", required=True, action="append", help="host:port of a web process; repeat for each")
    parser.add_argument(
        "--bridge", default=[], action="append", dest="bridges",
        help="host:port of the bridge; of several label=host:port each, see docs/guides/operator/several-hosts.md",
    )  # fmt: skip
    parser.add_argument(
        "--vnc", default=[], action="append", dest="gateways", help="host:port of the VNC gateway, in the same way"
    )
    parser.add_argument(
        "--bridge-name",
        default="",
        help="host name of a bridge host, with {bridge} in it; for several",
    )
    parser.add_argument("--listen", default="443")
    parser.add_argument("--bridge-listen", default="8010")
    parser.add_argument("--vnc-listen", default="8011")
    parser.add_argument("--redirect", default="", help="port of plain HTTP that leads to HTTPS")
    parser.add_argument("--certificate", type=Path)
    parser.add_argument("--key", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("/tmp"))  # noqa: S108 - a tmpfs of the container's own
    options = vars(parser.parse_args(words))
    if (options["certificate"] is None) != (options["key"] is None):
        parser.error("--certificate and --key go together")
    addresses = {name: tuple(options[name]) for name in ("web", "bridges", "gateways")}
    if max(len(addresses["bridges"]), len(addresses["gateways"])) > 1 and "{bridge}" not in options["bridge_name"]:
        parser.error("several bridges need --bridge-name '{bridge}.streams.example.org' and label=host:port")
    print(render_nginx_config(NginxConfig(**{**options, **addresses})), end="")


if __name__ == "__main__":
    main()
