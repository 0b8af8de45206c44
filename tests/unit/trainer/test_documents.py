"""Documents and conversations are read in their order, with the pictures that lie beside them and no others."""

import json
from collections import Counter
from pathlib import Path

import pytest

from protocol.dialects.dialect import ImagePart
from trainer.data.chats import ChatFile
from trainer.data.documents import html_parts, list_documents, markdown_parts, read_document
from trainer.errors import ChatUnreadable, FolderUnknown, SampleUnreadable


def test_markdown_is_kept_as_it_is_written() -> None:
    text = '# Title\n\nFirst ![a dog](dog.png "Dog") then\n![](<cat.jpg>)`code`'
    assert list(markdown_parts(text)) == [
        "# Title\n\nFirst ",
        ("dog.png", "a dog"),
        " then\n",
        ("cat.jpg", ""),
        "`code`",
    ]


def test_a_page_is_what_it_says() -> None:
    text = """<html><head><title>No</title><script>no()</script></head><body><h1>Title</h1>
      <p>One &amp;   <b>two</b><br/>three<img src="a.png" alt="A picture"></p><style>p{}</style>
      <pre>x\n  y</pre><svg><text>no</text></svg></body></html>"""
    parts = list(html_parts(text))
    assert ("a.png", "A picture") in parts
    words = "".join(part for part in parts if isinstance(part, str))
    assert "Title\nOne & two\nthree" in words
    assert "x\n  y" in words or "x\ny" in words
    assert "no" not in words.lower()


def test_pictures_come_from_the_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "here pic.png").write_bytes(b"here")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "sub" / "page.md").write_text(
        "![in](../here%20pic.png) ![out](../../secret.png) ![far](https://example.org/x.png) "
        "![gone](no.png) ![x](page.md)"
    )
    left_out: Counter[str] = Counter()
    parts = read_document(folder / "sub" / "page.md", folder, left_out)
    assert parts[0] == b"here"
    assert b"secret" not in parts
    assert "".join(part for part in parts if isinstance(part, str)) == " out far gone x"
    assert left_out == {"picture_missing": 4}


def test_documents_are_found_in_order_and_have_to_be_text(tmp_path: Path) -> None:
    for name in ("b.md", "a.html", "c.txt", "d.MD"):
        (tmp_path / name).write_bytes(b"\xff" if name == "d.MD" else b"text")
    assert [file.name for file in list_documents(tmp_path)] == ["a.html", "b.md", "d.MD"]
    with pytest.raises(SampleUnreadable):
        read_document(tmp_path / "d.MD", tmp_path, Counter())
    with pytest.raises(FolderUnknown):
        list_documents(tmp_path / "nothing")


def chats(path: Path, *lines: object) -> ChatFile:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "\n")
    return ChatFile(path)


def test_each_answer_is_a_sample_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"bytes")
    shown = [{"type": "text", "text": "Look:"}, {"type": "image", "image": "a.png"}]
    turns = [("system", "Be brief."), ("user", shown), ("assistant", "A."), ("user", "And?"), ("assistant", "B.")]
    file = chats(tmp_path / "c.jsonl", {"messages": [{"role": role, "content": content} for role, content in turns]})
    first, second = file.samples(Counter())
    assert (first.target, len(first.messages), second.target, len(second.messages)) == ("A.", 2, "B.", 4)
    image = first.messages[1].content[1]
    assert isinstance(image, ImagePart)
    assert file.bytes(image.image) == b"bytes"


def test_missing_pictures_are_counted_and_damaged_lines_refused(tmp_path: Path) -> None:
    (tmp_path.parent / "out.png").write_bytes(b"x")
    asked = [{"type": "image", "image": "../out.png"}]
    lines = [{"role": "user", "content": asked}, {"role": "assistant", "content": "A."}]
    left_out: Counter[str] = Counter()
    assert list(chats(tmp_path / "a.jsonl", {"messages": lines}).samples(left_out)) == []
    assert left_out == {"sample_unreadable": 1}
    damaged: list[object] = [{"messages": []}, {"messages": [{"role": "robot", "content": ""}]}, [1], {}]
    for odd in damaged:
        with pytest.raises(ChatUnreadable, match="line 1"):
            list(chats(tmp_path / "b.jsonl", odd).samples(Counter()))
    with pytest.raises(ChatUnreadable):
        list(ChatFile(tmp_path / "nothing").samples(Counter()))
