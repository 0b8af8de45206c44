"""The compose file and the images keep the rules of docs/guides/operator/deploy.md."""

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotation_app.operations.install.extra_environments import TRAINER_FOLDER
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE
from annotation_app.settings.env import MIN_SECRET_CHARACTERS, REQUIRED_FIELDS, Environment
from benchmarks.parts.model_servers.vllm_environment import VLLM
from vm_bridge.config import Config, read_config
from vm_bridge.host_keys import MANAGER, derive_key
from vm_bridge.isolation.seccomp import ALLOWED_SOCKET_FAMILIES, DENIED_SYSCALLS, LAST_SOCKET_FAMILY

DOCKER = ROOT / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
FROM_DEBIAN: dict[str, dict[str, Any]] = yaml.safe_load((DOCKER / "debian.yaml").read_text())["services"]
DOCKERFILE = (DOCKER / "Dockerfile").read_text()
OURS = {name: each for name, each in SERVICES.items() if "DJANGO_SETTINGS_MODULE" in each.get("environment", {})}
WRITES_ITS_ROOT = {"postgres", "bridge"}
"""docs/guides/operator/deploy.md says why."""
NAMESPACE_CALLS = {"mount", "umount", "umount2", "pivot_root"}
"""What the bridge needs to make sandboxes, of what programs in them may not call."""
SILENT = {"migrate"}
"""It ends by itself."""
secrets_make = runpy.run_path(str(DOCKER / "keys.py"))["secrets_make"]


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    secrets_make(tmp_path / "secrets", "pilothouse.test")
    return tmp_path / "secrets"


def test_every_image_is_of_a_named_version() -> None:
    for each in SERVICES.values():
        assert each["image"].startswith("pilothouse-") or re.search(r":v?\d+\.\d+", each["image"])
    assert not re.findall(r"(?:=|FROM )(?:debian|node)(?::latest)?$", DOCKERFILE, re.MULTILINE)


def test_no_image_runs_as_root() -> None:
    stages = dict(zip(*[iter(re.split(r"^FROM .+ AS (\w+)$", DOCKERFILE, flags=re.MULTILINE)[1:])] * 2, strict=True))
    for each in (*SERVICES.values(), *FROM_DEBIAN.values()):
        if "build" in each:
            target = each["build"].get("target")
            made = stages[target] if target else (DOCKER / each["build"]["context"] / "Dockerfile").read_text()
            users = re.findall(r"^USER (\w+)$", made, re.MULTILINE)
            assert users
            assert users[-1] != "root"


def test_without_a_registry_nothing_is_left_to_fetch() -> None:
    fetched = {name for name, each in SERVICES.items() if not each["image"].startswith("pilothouse-")}
    assert fetched == set(FROM_DEBIAN)
    assert all(set(each) == {"image", "build"} for each in FROM_DEBIAN.values())


def test_what_images_are_made_of_is_there() -> None:
    for sources in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE):
        assert all((ROOT / source).exists() for source in sources.split())


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_services_have_walls(name: str) -> None:
    service = SERVICES[name]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "userns_mode"} & service.keys()
    if name != "postgres":  # it changes its user itself
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
    assert service.get("read_only") is (None if name in WRITES_ITS_ROOT else True)


def test_the_bridges_filter_forbids_what_that_of_its_machines_does_but_namespaces() -> None:
    """`test_unprivileged_host.py` makes machines under it."""
    (option,) = (each for each in SERVICES["bridge"]["security_opt"] if each.startswith("seccomp="))
    assert option.endswith(":-bridge-seccomp.json}")
    rules = json.loads((DOCKER / "bridge-seccomp.json").read_text())["syscalls"]
    (refused,) = (rule["names"] for rule in rules if "args" not in rule)
    assert set(refused) == set(DENIED_SYSCALLS) - NAMESPACE_CALLS
    sockets = {(each["args"][0]["op"], each["args"][0]["value"]) for each in rules if each["names"] == ["socket"]}
    families = set(range(LAST_SOCKET_FAMILY + 1)) - set(map(int, ALLOWED_SOCKET_FAMILIES))
    assert sockets == {("SCMP_CMP_EQ", each) for each in families} | {("SCMP_CMP_GT", LAST_SOCKET_FAMILY)}
    assert {rule["action"] for rule in rules} == {"SCMP_ACT_ERRNO"}


def services_on(network: str) -> set[str]:
    return {name for name, each in SERVICES.items() if network in each.get("networks", ())}


def test_services_reach_only_what_they_need() -> None:
    assert {name for name, each in SERVICES.items() if not each.get("networks")} == {"turn"}
    assert SERVICES["turn"]["network_mode"] == "host"
    callers = {"web-1", "web-2", "worker", "trainer"}
    assert services_on("front") == {"proxy", "web-1", "web-2"}
    assert services_on("data") == callers | {"migrate", "beat", "postgres", "pooler", "redis"}
    assert services_on("machines") == callers | {"proxy", "bridge", "vnc", "redis"}
    assert services_on("models") == callers | {"nano", "scripted", "vllm"}
    assert COMPOSE["networks"].keys() == {"front", "data", "machines", "models"}
    assert COMPOSE["networks"]["data"] == {"internal": True}


def test_a_bridge_that_is_taken_over_knows_no_secret_of_the_platform() -> None:
    bridges = {secret for name in ("bridge", "vnc") for secret in SERVICES[name]["secrets"]}
    assert bridges == {"redis_url_bridge", "bridge_keys", "ice_servers"}
    for each in OURS.values():
        assert not {"redis_url_bridge", "bridge_keys", "redis_password"} & set(each["secrets"])


def test_the_bridge_and_its_gateway_take_what_the_web_app_signs(secrets: Path) -> None:
    master = (secrets / "bridge_secret").read_text()
    for name in ("bridge", "vnc"):
        given = {
            variable.removesuffix("_FILE"): (
                (secrets / value.removeprefix("/run/secrets/")).read_text() if variable.endswith("_FILE") else value
            )
            for variable, value in SERVICES[name]["environment"].items()
            if variable != "PILOTHOUSE_MAX_MACHINES"
        }
        config = read_config(given)
        assert config.host_keys == (derive_key(master, config.host_id),)
        assert config.keys_of(MANAGER) == (derive_key(master, MANAGER),)
        assert not config.secret


def test_an_installation_of_earlier_versions_gets_keys_and_users_beside_what_it_has(tmp_path: Path) -> None:
    former = {"bridge_secret": "m" * 43, "redis_password": "r" * 43, "redis_url": f"redis://:{'r' * 43}@redis:6379/0"}
    for name, text in former.items():
        (tmp_path / name).write_text(text)
    assert {"bridge_keys", "redis_users", "redis_url_bridge", "redis_url_platform"} <= set(
        secrets_make(tmp_path, "pilothouse.test")
    )
    assert {name: (tmp_path / name).read_text() for name in former} == former
    (tmp_path / "redis_url_bridge").unlink()
    (tmp_path / "bridge_secret").write_text("n" * 43)
    assert set(secrets_make(tmp_path, "pilothouse.test")) == {"redis_url_bridge", "redis_users", "bridge_keys"}
    assert (tmp_path / "bridge_keys").read_text().endswith(f"bridge={derive_key('n' * 43, 'bridge')}")


def test_all_that_a_model_server_writes_is_in_a_home_of_its_users_own() -> None:
    image = (DOCKER / "model" / "Dockerfile").read_text()
    number, home = re.findall(r"useradd --uid (\d+) --home-dir (\S+) --create-home pilothouse", image)[0]
    assert f"useradd --uid {number} " in DOCKERFILE, "one number everywhere"
    assert SERVICES["vllm"]["volumes"] == [f"models:{home}"]
    folders = dict(re.findall(r"(\w+)=(/\S+)", image))
    assert folders.keys() == {"HF_HOME", "TORCHINDUCTOR_CACHE_DIR"}
    assert all(f"{folder}/".startswith(f"{home}/") for folder in folders.values())
    assert any(
        each.startswith("/tmp:") and "exec" in each.split(":")[1].split(",") for each in SERVICES["vllm"]["tmpfs"]
    )


def test_vllm_is_the_one_that_is_tested_and_is_told_what_the_docs_say() -> None:
    """Else it penalises repetition, scales pictures in another way than the trainer, and does not fit on a card."""
    assert f"\nARG VLLM=vllm/vllm-openai:v{VLLM}\n" in (DOCKER / "model" / "Dockerfile").read_text()
    page = (ROOT / "docs" / "guides" / "researcher" / "serving.md").read_text()
    described = page.partition("    vllm serve ")[2].partition("\n\n")[0]
    words, given = shlex.split(described.replace("\\\n", " "))[1:], shlex.split(SERVICES["vllm"]["command"])
    options = dict(zip(words[::2], words[1::2], strict=True))
    own = {"--served-model-name", "--host", "--port", "--dtype"}
    assert own < options.keys()
    assert options.items() - {(name, options[name]) for name in own} <= set(zip(given[::2], given[1::2], strict=True))


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_services_tell_whether_they_work(name: str) -> None:
    built, check = SERVICES[name].get("build", {}).get("target"), SERVICES[name].get("healthcheck")
    assert check or built in ("app", "bridge", "pooler")
    assert check != {"disable": True} or name in SILENT
    assert SERVICES[name]["restart"] in ("unless-stopped", "no")


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"vllm", "migrate"}))
def test_services_have_bounds(name: str) -> None:
    assert SERVICES[name]["deploy"]["resources"]["limits"]["memory"]


def test_no_secret_stands_in_the_file(secrets: Path) -> None:
    secret = re.compile(r"PASSWORD|SECRET|KEY|_URL$")
    plain = {f"PILOTHOUSE_{name.upper()}" for name in ("bridge_url", "bridge_public_url", "vnc_public_url")}
    for each in SERVICES.values():
        for variable, value in each.get("environment", {}).items():
            if secret.search(variable) and not variable.endswith("_FILE"):
                assert variable in plain | {"PILOTHOUSE_SCRIPTED_URL"}
            if variable.endswith("_FILE"):
                assert value == "/dev/null" or value.removeprefix("/run/secrets/") in each["secrets"]


def test_the_secrets_are_those_that_are_made(secrets: Path) -> None:
    assert {path.name for path in secrets.iterdir()} >= set(COMPOSE["secrets"])
    assert {name for each in SERVICES.values() for name in each.get("secrets", ())} <= set(COMPOSE["secrets"])
    before = {path.name: path.read_text() for path in secrets.iterdir()}
    assert secrets_make(secrets, "another.test") == ()
    assert {path.name: path.read_text() for path in secrets.iterdir()} == before
    assert secrets.stat().st_mode & 0o077 == 0
    assert len((secrets / "secret_key").read_text()) >= MIN_SECRET_CHARACTERS


def test_programs_get_what_they_read_and_production_starts() -> None:
    known = {f"PILOTHOUSE_{name.upper()}" for model in (Environment, Config) for name in model.model_fields}
    for each in SERVICES.values():
        given = {name.removesuffix("_FILE") for name in each.get("environment", {}) if name.startswith("PILOTHOUSE_")}
        assert given <= known
    for each in OURS.values():
        given = {name.removesuffix("_FILE") for name in each["environment"]}
        assert {f"PILOTHOUSE_{name.upper()}" for name in REQUIRED_FIELDS} <= given


def test_every_queue_has_a_worker_and_what_needs_the_trainer_goes_to_who_has_it() -> None:
    listens = {
        name: words[words.index("--queues") + 1]
        for name, each in SERVICES.items()
        if "worker" in (words := shlex.split(each.get("command", "")))
    }
    assert listens == {"worker": DEFAULT_QUEUE, "trainer": TRAINING_QUEUE}
    assert SERVICES["trainer"]["build"]["target"] == SERVICES["nano"]["build"]["target"] == "trainer"
    stage = DOCKERFILE.partition("FROM python AS trainer")[2].partition("\nFROM ")[0]
    assert str(TRAINER_FOLDER.relative_to(ROOT)) in stage, "where a turn looks for it"
    assert set(SERVICES["trainer"]["volumes"]) == set(SERVICES["worker"]["volumes"])


@pytest.mark.parametrize("name", ["bridge", "vnc"])
def test_what_pages_open_sockets_to_knows_their_origin(name: str) -> None:
    origins = {each["environment"]["PILOTHOUSE_WEB_ORIGINS"] for each in (*OURS.values(), SERVICES[name])}
    assert len(origins) == 1


def test_what_an_installation_sets_reaches_its_programs(secrets: Path) -> None:
    assert all(line.startswith("#") for line in (secrets / "environment").read_text().splitlines())
    for each in (*OURS.values(), SERVICES["bridge"]):
        (file,) = each["env_file"]
        assert file == "${PILOTHOUSE_SECRETS:-./secrets}/environment"


def test_a_relay_relays_datagrams_only(secrets: Path) -> None:
    lines = (secrets / "turn").read_text().splitlines()
    assert "no-tcp-relay" in lines
    ports = dict(line.split("=") for line in lines if line.startswith(("min-port", "max-port")))
    assert (
        f"{ports['min-port']}–{ports['max-port']}" in (ROOT / "docs" / "guides" / "operator" / "deploy.md").read_text()
    )


def test_the_proxy_looks_after_the_addresses_of_all_its_servers() -> None:
    """Of one it does not, it would keep the address that it had at the start, and not start where there was none."""
    configuration = (DOCKER / "nginx.conf").read_text()
    servers = set(re.findall(r"^ +(?:server|proxy_pass http:/)[ /]([\w-]+):\d", configuration, re.MULTILINE))
    words = shlex.split(SERVICES["proxy"]["command"])
    assert servers == set(words[3:]) == {"web-1", "web-2", "bridge", "vnc"}
    mounted = dict(each.split(":")[:2][::-1] for each in SERVICES["proxy"]["volumes"][:2])
    assert all((DOCKER / mounted[inside]).exists() for inside in words[1:3])


def test_the_proxy_is_well_when_a_web_process_answers_through_it() -> None:
    check = SERVICES["proxy"]["healthcheck"]["test"]
    assert check[1] == "curl"
    assert check[-1] == "https://127.0.0.1:8443/api/health"
    assert "127.0.0.1" in SERVICES["web-1"]["environment"]["PILOTHOUSE_ALLOWED_HOSTS"]
    assert "listen 8443 ssl;" in (DOCKER / "nginx.conf").read_text()
    assert re.search(r"nginx-light curl\b", DOCKERFILE), "nginx's own image has it"


def test_what_programs_in_desktops_may_write_on_their_host_is_bounded() -> None:
    """The bridge there is no root, so they may write into the folder of their picture's socket.

    See docs/architecture/sandbox.md.
    """
    (shared,) = (each.partition(":")[0] for each in SERVICES["bridge"]["volumes"] if each.endswith(":/tmp"))
    assert f"{shared}:/tmp" in SERVICES["vnc"]["volumes"]
    made = COMPOSE["volumes"][shared]["driver_opts"]
    assert (made["type"], made["device"]) == ("tmpfs", "tmpfs")
    options = dict(each.partition("=")[::2] for each in made["o"].split(","))
    assert options["size"] == "${PILOTHOUSE_BRIDGE_TMP:-512m}"
    assert f"useradd --uid {options['uid']} " in DOCKERFILE
    assert options.keys() >= {"nr_inodes", "nosuid", "nodev"}
    assert "noexec" not in options, "what desktops are made of is mounted from there"


def test_web_processes_have_host_names_of_their_own() -> None:
    """By host and number another tells whether a process is gone: two of one name would take each other for dead."""
    names = [each.get("hostname") for name, each in SERVICES.items() if name.startswith("web-")]
    assert len(names) == 2
    assert len(set(names) - {None}) == 2


def test_a_secrets_file_becomes_its_variable(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("two words'\n")
    said = subprocess.run(
        [DOCKER / "entrypoint.sh", "sh", "-c", 'printf %s "$PILOTHOUSE_SECRET_KEY/${PILOTHOUSE_SECRET_KEY_FILE-gone}"'],
        env={"PATH": os.environ["PATH"], "PILOTHOUSE_SECRET_KEY_FILE": str(tmp_path / "secret")},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert said.stdout == "two words'/gone"


@pytest.mark.skipif(shutil.which("docker-compose") is None, reason="docker-compose is not installed")
@pytest.mark.parametrize("names", [("compose.yaml",), ("compose.yaml", "debian.yaml")], ids=["registry", "debian"])
def test_compose_takes_it(secrets: Path, names: tuple[str, ...]) -> None:
    files = [word for name in names for word in ("-f", str(DOCKER / name))]
    said = subprocess.run(
        ["docker-compose", *files, "config", "--quiet"],
        env={**os.environ, "PILOTHOUSE_HOST": "pilothouse.test", "PILOTHOUSE_SECRETS": str(secrets),
             "PILOTHOUSE_BRIDGE_SECCOMP": str(DOCKER / "bridge-seccomp.json")},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
