"""Conversations from a file of JSON Lines: `{"messages": [{"role": …, "content": …}]}`.

A content is text, or parts: `{"type": "text", "text": …}` and `{"type": "image", "image": "a file beside the lines"}`.
Each turn of the assistant is a sample, with the turns before it as what is read.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart, TextPart
from protocol.training.samples import Sample
from trainer.errors import ChatUnreadable, SampleUnreadable


class Picture(BaseModel):
    """A file beside the lines."""

    type: Literal["image"]
    image: str


class ChatTurn(BaseModel):
    """What one side says."""

    role: Literal["system", "user", "assistant"]
    content: str | list[Annotated[TextPart | Picture, Field(discriminator="type")]]

    @property
    def parts(self) -> list[TextPart | Picture]:
        """The content as parts."""
        return [TextPart(text=self.content)] if isinstance(self.content, str) else list(self.content)


class Chat(BaseModel):
    """One conversation."""

    messages: list[ChatTurn] = Field(min_length=1)


class ChatFile:
    """A file of conversations, with the pictures that lie beside it."""

    def __init__(self, path: Path) -> None:
        self._path, self._folder = path, path.parent.resolve()
        self._pictures: dict[str, Path] = {}

    def samples(self, left_out: Counter[str]) -> Iterator[Sample]:
        """Every turn of the assistant that answers something; one whose pictures are missing is counted.

        Raises ChatUnreadable at a line that is no conversation.
        """
        for number, chat in self._chats():
            for index, turn in enumerate(chat.messages):
                if turn.role != "assistant" or not index:
                    continue
                try:
                    yield self._sample(f"{self._path.name} line {number}", index, chat)
                except SampleUnreadable as error:
                    left_out[error.code] += 1

    def bytes(self, ref: BlobRef) -> bytes:
        """The bytes of a picture that a sample refers to."""
        return self._pictures[ref.sha256].read_bytes()

    def _chats(self) -> Iterator[tuple[int, Chat]]:
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError as error:
            raise ChatUnreadable(f"{self._path} cannot be read: {error}") from None
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield number, Chat.model_validate_json(line)
            except ValidationError as error:
                problem = error.errors()[0]
                where = ".".join(map(str, problem["loc"]))
                raise ChatUnreadable(f"{self._path.name}, line {number}: {where}: {problem['msg']}") from None

    def _sample(self, name: str, index: int, chat: Chat) -> Sample:
        parts = chat.messages[index].parts
        if any(isinstance(part, Picture) for part in parts):
            raise SampleUnreadable(f"{name}: the assistant shows a picture")
        target = "".join(part.text for part in parts if isinstance(part, TextPart))
        read = tuple(
            ChatMessage(role=turn.role, content=tuple(self._part(part, name) for part in turn.parts))
            for turn in chat.messages[:index]
        )
        return Sample(name, index, read, target, "human", "override")

    def _part(self, part: TextPart | Picture, name: str) -> TextPart | ImagePart:
        if isinstance(part, TextPart):
            return part
        path = (self._folder / part.image).resolve()
        if not path.is_relative_to(self._folder) or not path.is_file():
            raise SampleUnreadable(f"{name}: there is no picture {part.image} beside it")
        ref = BlobRef.of(path.read_bytes(), f"image/{path.suffix[1:].lower() or 'png'}")
        self._pictures[ref.sha256] = path
        return ImagePart(image=ref)
