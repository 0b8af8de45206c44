"""Files for people who change the code: hooks, forms and settings name what exists."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from annotation_app.operations.runtime.stack import ROOT

HOOKS = [
    hook
    for repository in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    for hook in repository["hooks"]
]
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_starts_a_program_of_the_checkout(hook: dict[str, str]) -> None:
    program, *words = shlex.split(hook["entry"])
    assert (ROOT / program).exists() or shutil.which(program)
    if program == "npm":
        scripts = json.loads((ROOT / "frontend/package.json").read_text())["scripts"]
        assert words[-1] in scripts


@pytest.mark.parametrize("form", [each for each in FORMS if each.name != "config.yml"], ids=lambda form: form.stem)
def test_a_form_asks_for_something_and_each_field_has_its_own_name(form: Path) -> None:
    read = yaml.safe_load(form.read_text())
    fields = [field for field in read["body"] if field["type"] != "markdown"]
    names = [field["id"] for field in fields]
    assert len(set(names)) == len(names)
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_the_container_for_development_is_set_up_by_the_usual_command() -> None:
    text = (ROOT / ".devcontainer/devcontainer.json").read_text()
    read = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    assert read["postCreateCommand"] == "./pilothouse setup"
    assert {str(port) for port in read["forwardPorts"]} == set(read["portsAttributes"])
