"""The real nginx before web processes, where it is installed."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from annotation_app.operations.runtime.nginx import NginxConfig, render_nginx_config

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
END_SECONDS = 30.0


@contextlib.contextmanager
def run_nginx(folder: Path, at: str, web: Sequence[str], *, name: str = "_") -> "Iterator[subprocess.Popen[bytes]]":
    """The product's own configuration, listening at `at` (`host:port`) before the addresses in `web`.

    What it writes lies in `folder`. It may not listen yet when the block begins.
    """
    assert NGINX is not None, "nginx is not installed"
    file = folder / "nginx.conf"
    log = str(folder / "access.log")
    file.write_text(render_nginx_config(NginxConfig(name=name, web=tuple(web), listen=at, folder=folder, log=log)))
    with (folder / "nginx.log").open("ab") as errors:
        process = subprocess.Popen([NGINX, "-c", str(file), "-g", "daemon off;"], stdout=errors, stderr=errors)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(END_SECONDS)
