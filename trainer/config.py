"""Settings of a command: typed fields from a JSON file and from arguments, each with its meaning."""

import json
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, ValidationError

from protocol.base import FrozenModel
from protocol.dialects.families import get_dialect
from protocol.dialects.prompt_template import PromptTemplate
from trainer.errors import ConfigInvalid, ConfigUnknown, ConfigUnreadable


class Settings(FrozenModel):
    """Base of every command's settings; the docstring under a field is what `--help` says of it."""

    model_config = ConfigDict(use_attribute_docstrings=True)


def changed_fields(config: Settings, earlier: Mapping[str, JsonValue], may_change: Set[str]) -> list[str]:
    """Names of settings in which a run differs from its start, without those that may change. A setting that was
    unknown then counts as its default, so that a newer trainer with more settings can resume the run."""
    known = {name: value for name, value in earlier.items() if name in type(config).model_fields}
    raw_settings = config.model_dump(mode="json", exclude=set(may_change))
    before: Mapping[str, JsonValue] = known
    # The settings of the start may be invalid with those that changed since; they are compared as they were written.
    with suppress(ValidationError):
        begun = type(config).model_validate({**config.model_dump(mode="json", include=set(may_change)), **known})
        before = begun.model_dump(mode="json", exclude=set(may_change))
    differ = {name for name in raw_settings.keys() | before.keys() if raw_settings.get(name) != before.get(name)}
    return sorted(differ | (earlier.keys() - known.keys()))


class TrainingConfig(Settings):
    """Settings of every command that trains."""

    checkpoint: Path
    """The checkpoint's folder to start from, in the Hugging Face layout."""
    out: Path
    """The run's folder: checkpoints and curves. Started again, a run resumes from its newest checkpoint."""
    updates: int = Field(default=100, ge=1)
    """How many there are in all."""
    keep_every: int = Field(default=50, ge=1)
    """Updates between two checkpoints; the last is always kept."""
    learning_rate: float = Field(default=1e-5, gt=0)
    """Of AdamW."""
    warmup: int = Field(default=10, ge=0)
    """Updates over which the learning rate grows."""
    settle: int = Field(default=0, ge=0)
    """Updates at the end over which it falls to a fiftieth; 0: it stays where it is."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Of AdamW."""
    largest_gradient: float = Field(default=1.0, gt=0)
    """The norm a gradient is scaled down to."""
    vision: bool = False
    """Whether the vision tower learns too. Servers keep what it made of pictures."""
    device: str = "cpu"
    """Where it is computed, in torch's words."""
    precision: Literal["single", "bfloat16"] = "single"
    """Of the trunk's products of matrices; weights, gradients, moments and what follows the trunk are single."""
    recompute: bool = False
    """Whether layers are computed again for the backward pass instead of kept: the same gradient with less memory, for
    about a third more time."""
    seed: int = 0
    """Of the order of samples."""


class DialectConfig(Settings):
    """In which words a policy says what people did."""

    dialect: Annotated[str, AfterValidator(lambda name: get_dialect(name).name)] = "ui_tars_1_5"
    """The words of the steps that a person worded."""
    prompt: PromptTemplate | None = None
    """The prompt that the policy is served with, where it is not the dialect's own."""


class PackingConfig(Settings):
    """How samples fill the sequences of an update."""

    sequences: int = Field(default=8, ge=1)
    """Sequences an update."""
    tokens: int = Field(default=8192, ge=2)
    """How many a sequence holds; a longer sample is left out and counted."""


class DatasetTrainingConfig(TrainingConfig, PackingConfig):
    """Settings of commands that make several passes over their samples."""


Kind = TypeVar("Kind", bound=Settings)


def read_config(kind: type[Kind], file: Path | None = None, words: Sequence[str] = ()) -> Kind:
    """Settings from a file, then from words `field=value`, which win; a value is JSON, or else a text.

    A dot in a field's name leads into its own fields. Raises ConfigUnreadable, ConfigUnknown, ConfigInvalid.
    """
    raw_settings = _read_file(file) if file else {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise ConfigUnreadable(f"{word!r} is not FIELD=VALUE")
        _set_nested(raw_settings, name.split("."), _value(value))
    try:
        return kind.model_validate_json(json.dumps(raw_settings))
    except ValidationError as error:
        raise _config_error(kind, error) from None


def describe_fields(kind: type[Settings]) -> str:
    """Each setting with its type, default and meaning, for people."""
    lines = ["settings:"]
    for name, field in kind.model_fields.items():
        default = "required" if field.is_required() else _format_default(field.get_default(call_default_factory=True))
        lines += [
            f"  {name}: {_describe_type(field.annotation)} ({default})",
            f"      {field.description or ''}".rstrip(),
        ]
    return "\n".join(line for line in lines if line.strip())


def _read_file(file: Path) -> dict[str, Any]:
    try:
        raw_settings = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigUnreadable(f"{file} cannot be read: {error}") from None
    if not isinstance(raw_settings, dict):
        raise ConfigUnreadable(f"{file} holds no JSON object")
    return raw_settings


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _set_nested(raw_settings: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *outer, last = path
    for name in outer:
        within = raw_settings.setdefault(name, {})
        if not isinstance(within, dict):
            raise ConfigInvalid(f"{name} has no fields of its own")
        raw_settings = within
    raw_settings[last] = value


def _config_error(kind: type[Settings], error: ValidationError) -> ConfigUnknown | ConfigInvalid:
    """The first unknown field, or else everything that is wrong."""
    found = error.errors(include_url=False)
    for one in found:
        if one["type"] == "extra_forbidden":
            name = ".".join(map(str, one["loc"]))
            near = get_close_matches(name, kind.model_fields, n=1)
            return ConfigUnknown(f"there is no setting {name}" + (f"; {near[0]} is one" if near else ""))
    return ConfigInvalid("; ".join(f"{'.'.join(map(str, one['loc'])) or 'settings'}: {one['msg']}" for one in found))


def _describe_type(annotation: Any) -> str:
    plain = annotation.__name__ if isinstance(annotation, type) and not hasattr(annotation, "__args__") else annotation
    return str(plain).replace("typing.", "").replace("pathlib.", "")


def _format_default(default: Any) -> str:
    return json.dumps(default.model_dump(mode="json") if isinstance(default, Settings) else default, default=str)
