"""What a task program of OSWorld 2.0 needs beside the desktop, and which of it an operator gave."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from protocol.benchmarks.task_programs import PACKAGE, Need, TaskProgram
from vm_bridge.drivers.osworld.task_files import SUPPORTED_NAMES
from vm_bridge.network.allowlist import AllowList

FILES = "/home/user/files"
"""Where a run sees the operator's folder."""
SETTING = "PILOTHOUSE_OSWORLD_SERVICES"
ASSETS_FOLDER = "assets"
"""In the operator's folder: what `asset()` names."""
ASSETS_URL = "OSWORLD_FILE_BASE_URL"
PUBLISHED_ASSETS_HOST = "huggingface.co"
JUDGE_URL, JUDGE_MODEL, JUDGE_PROVIDER = (
    "OSWORLD_EVAL_MODEL_BASE_URL",
    "OSWORLD_EVAL_MODEL_NAME",
    "OSWORLD_EVAL_MODEL_PROVIDER",
)
OPENAI_PROVIDERS = ("", "openai", "openai_compatible")
"""Providers whose interface the judge of OSWorld's first package is asked by."""
WEBSITES = "WEBSITE_HOST_SUFFIX"
VARIABLES: Mapping[Need, tuple[str, ...]] = {
    "judge": (JUDGE_URL, JUDGE_MODEL),
    "websites": (WEBSITES,),
    "gitlab": ("GITLAB_URL", "GITLAB_PRIVATE_TOKEN"),
}
"""What each need must have."""
OPTIONAL_VARIABLES: Mapping[Need, tuple[str, ...]] = {
    "judge": (
        *(JUDGE_PROVIDER, "OSWORLD_EVAL_MODEL_API_KEY", "OSWORLD_EVAL_MODEL_API_KEY_ENV"),
        *("OSWORLD_EVAL_MODEL_RETRY_ATTEMPTS", "OSWORLD_EVAL_MODEL_RETRY_DELAY"),
    ),
    "assets": (ASSETS_URL,),
}
CODES: Mapping[Need, str] = {"judge": "judge_needed", "websites": "services_needed", "gitlab": "services_needed"}
NOUNS: Mapping[Need, str] = {
    "judge": "its evaluate() asks a model",
    "websites": "it uses OSWorld's own websites",
    "gitlab": "it uses a GitLab",
}
PROVIDED = frozenset(
    {
        f"{PACKAGE}.task_base.BaseTask",
        f"{PACKAGE}.file_source.asset",
        f"{PACKAGE}.controllers.website.build_website_url",
        f"{PACKAGE}.evaluators.model_client.generate_text",
    }
)
"""What `task_interface` adds to OSWorld's first package."""
WHOLE_MODULES = (f"{PACKAGE}.controllers.setup.", f"{PACKAGE}.controllers.python.", f"{PACKAGE}.desktop_env.")
METRICS, GETTERS = f"{PACKAGE}.evaluators.metrics.", f"{PACKAGE}.evaluators.getters.get_"


def read_services(path: Path | None) -> dict[str, str]:
    """The variables of a file of `NAME=value` lines, also with `export`; none without a file. Raises OSError."""
    if path is None:
        return {}
    lines = (line.strip().removeprefix("export ").partition("=") for line in path.read_text("utf-8").splitlines())
    return {
        name.strip(): value.strip().strip("\"'") for name, mark, value in lines if mark and not name.startswith("#")
    }


def program_services(program: TaskProgram, given: Mapping[str, str], *, has_assets: bool) -> dict[str, str]:
    """The variables that this program needs, and no others. Files in the operator's folder come before a host's."""
    names = {name for need in program.needs for name in (*VARIABLES.get(need, ()), *OPTIONAL_VARIABLES.get(need, ()))}
    if key_name := given.get("OSWORLD_EVAL_MODEL_API_KEY_ENV") if "judge" in program.needs else None:
        names.add(key_name)
    found = {name: value for name, value in given.items() if name in names}
    if "assets" in program.needs and has_assets:
        found[ASSETS_URL] = f"file://{FILES}/{ASSETS_FOLDER}"
    return found


def service_hosts(services: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts of a program's services, as `Task.network` writes them."""
    return tuple(_hosts(services))


def list_missing_of_program(
    program: TaskProgram, services: Mapping[str, str], *, password: bool, allowed: AllowList, whole: bool
) -> Iterator[str]:
    """What of a program cannot be done, each by its stable code.

    `services` are the variables that it gets, and `whole` is whether OSWorld 2.0's own package is installed.
    """
    for need, code in CODES.items():
        missing = [name for name in VARIABLES[need] if not services.get(name)]
        if need in program.needs and missing:
            yield f"{code}: {NOUNS[need]} ({', '.join(missing)} in {SETTING})"
    if "password" in program.needs and not password:
        yield "password_needed: it says {CLIENT_PASSWORD} (PILOTHOUSE_OSWORLD_PASSWORD)"
    if "assets" in program.needs and ASSETS_URL not in services and not allowed.allows(PUBLISHED_ASSETS_HOST, 443):
        yield f"files_needed: it names files of OSWorld's (the folder {ASSETS_FOLDER} in PILOTHOUSE_OSWORLD_FILES)"
    if whole:
        return
    if "judge" in program.needs and services.get(JUDGE_PROVIDER, "") not in OPENAI_PROVIDERS:
        yield f"judge_needed: {services[JUDGE_PROVIDER]} is asked by OSWorld 2.0's own package alone"
    for name in program.imports:
        if not _is_provided(name):
            yield f"package_needed: {name} is in OSWorld 2.0's own package alone"


def _hosts(services: Mapping[str, str]) -> Iterator[str]:
    for name, value in services.items():
        if name == WEBSITES:
            yield f"*.{value}"
        elif name.endswith("_URL"):
            url = urlsplit(value)
            if url.scheme in ("http", "https") and url.hostname:
                yield url.hostname if url.port is None else f"{url.hostname}:{url.port}"


def _is_provided(name: str) -> bool:
    """Whether OSWorld's first package has a dotted name, or `task_interface` adds it."""
    if name in PROVIDED or name.startswith(WHOLE_MODULES):
        return True
    if name.startswith(GETTERS):
        return name.removeprefix(GETTERS) in SUPPORTED_NAMES["getters"]
    return name.startswith(METRICS) and name.removeprefix(METRICS) in SUPPORTED_NAMES["metrics"]
