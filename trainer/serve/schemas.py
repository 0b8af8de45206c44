"""The requests the server takes, in OpenAI's words and vLLM's for what OpenAI has none."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class InvalidRequest(Exception):
    """A request that cannot be served as it is; `param` names the field it is about."""

    def __init__(self, message: str, *, param: str = "") -> None:
        super().__init__(message)
        self.param = param


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")


class TextPart(_Body):
    type: Literal["text"] = "text"
    text: str


class ImageUrl(_Body):
    url: str


class ImagePart(_Body):
    type: Literal["image_url"]
    image_url: ImageUrl


Part = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class Message(_Body):
    """One turn; its content is text, or parts."""

    role: Annotated[str, Field(max_length=64)]
    content: str | list[Part]

    @property
    def parts(self) -> list[TextPart | ImagePart]:
        """The content as parts."""
        return [TextPart(text=self.content)] if isinstance(self.content, str) else list(self.content)

    def templated(self) -> dict[str, Any]:
        """As chat templates take it: a picture is a place without its bytes."""
        if isinstance(self.content, str):
            return {"role": self.role, "content": self.content}
        parts = [{"type": "image"} if isinstance(part, ImagePart) else part.model_dump() for part in self.content]
        return {"role": self.role, "content": parts}


class Sampling(_Body):
    """How tokens are drawn. Log-probabilities are those of the very distribution that was drawn from."""

    n: int = Field(default=1, ge=1, le=16)
    temperature: float = Field(default=1.0, ge=0, le=100)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=-1, ge=-1)
    """-1 and 0 take all."""
    min_p: float = Field(default=0.0, ge=0, le=1)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    max_tokens: int | None = Field(default=None, ge=1)
    """None: as many as the context holds."""
    stop: list[str] = []
    stop_token_ids: list[int] = []
    ignore_eos: bool = False

    @model_validator(mode="before")
    @classmethod
    def _spellings(cls, data: Any) -> Any:
        """`stop` may be one string, `max_completion_tokens` is the newer name, null means the default."""
        if not isinstance(data, dict):
            return data
        fields = {name: value for name, value in data.items() if value is not None}
        if isinstance(fields.get("stop"), str):
            fields["stop"] = [fields["stop"]]
        if "max_completion_tokens" in fields:
            fields.setdefault("max_tokens", fields["max_completion_tokens"])
        return fields


class ChatRequest(Sampling):
    """`POST /v1/chat/completions`."""

    model: str = ""
    messages: Annotated[list[Message], Field(min_length=1, max_length=4096)]
    stream: bool = False
    logprobs: bool = False
    top_logprobs: Literal[0] | None = None
    """Only the drawn token's own."""
    return_token_ids: bool = False
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    """Whether the last message, the assistant's, is continued instead of answered."""

    @model_validator(mode="after")
    def _continues_or_answers(self) -> Self:
        if self.continue_final_message and self.add_generation_prompt:
            raise ValueError("Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
        return self


class TokenizeRequest(_Body):
    """`POST /tokenize`: a text, without the chat template."""

    model: str = ""
    prompt: Annotated[str, Field(max_length=1_000_000)]
    add_special_tokens: bool = True
    """This family's tokenizer adds none in any case."""


class ReloadArguments(_Body):
    """Where a checkpoint lies, on the server's machine."""

    weights_path: Annotated[str, Field(min_length=1, max_length=4096)]


class CollectiveRpcRequest(_Body):
    """`POST /collective_rpc`: the one method there is."""

    method: Literal["reload_weights"]
    arguments: Annotated[ReloadArguments, Field(alias="kwargs")]


class WeightVersionRequest(_Body):
    """`POST /update_weight_version`."""

    new_version: Annotated[str, Field(min_length=1, max_length=200)]
