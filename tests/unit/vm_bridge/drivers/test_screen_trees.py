"""Words and titles of the trees that machines give to assistive technology, and of what is no tree."""

from collections.abc import Callable

import pytest

from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.drivers.remote.screen_trees import MAX_TREE_BYTES, android_texts, linux_texts
from vm_bridge.machine_io import MAX_WORDS, ScreenTexts

ANDROID = """<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">
<node text="" class="android.widget.FrameLayout" content-desc="Contacts list" password="false">
<node text="Nina Kowalski" class="android.widget.TextView" content-desc="" password="false"/>
<node text="typed here" class="android.widget.EditText" content-desc="Search field" password="false"/>
<node text="hunter22" class="com.bank.SecretView" content-desc="" password="true"/>
<node text="nina@example.org" class="android.widget.AutoCompleteTextView"/>
<node text="draft" class="textarea"/></node></hierarchy>"""
LINUX = """<desktop-frame name="main" xmlns:st="https://accessibility.ubuntu.example.org/ns/state">
<application name="gedit">
<frame name="letter.txt (~/Documents) - gedit" st:showing="true">
<push-button name="Open a file" st:showing="true">ignored</push-button>
<push-button name="Elsewhere" st:showing="false"/>
<text name="Dear Nina" st:showing="true" st:editable="true">Dear Nina</text>
<label name="Writable" st:editable="true"/><entry name="secret-word"/></frame>
<dialog name="Save changes?"/><frame name="Save changes?"/><frame name=""/></application></desktop-frame>"""


def test_words_of_a_phone_are_those_outside_input_fields() -> None:
    assert android_texts(ANDROID.encode()).words == ("Contacts", "list", "Nina", "Kowalski")


def test_a_desktop_has_titles_and_the_names_of_what_it_shows() -> None:
    found = linux_texts(LINUX.encode())
    assert found.titles == ("letter.txt (~/Documents) - gedit", "Save changes?")
    assert found.words == ("main", "gedit", "Open", "file")


def test_long_trees_give_so_many_words_and_short_titles() -> None:
    nodes = "".join(f'<label name="word{number}"/>' for number in range(MAX_WORDS + 1))
    found = linux_texts(f'<a>{nodes}<frame name="{"x" * 1000}"/></a>'.encode())
    assert (len(found.words), len(found.titles[0])) == (MAX_WORDS, 300)


@pytest.mark.parametrize(
    "tree",
    [
        b"",
        b"ERROR: could not get idle state.",
        b"<a>",
        b"<?xml version='1.0' encoding='nothing'?><a/>",
        b"<a>\xff</a>",
        b"<!DOCTYPE a [<!ENTITY b '" + b"c" * 1000 + b"'>" + b"".join(
            b"<!ENTITY b%d '%s'>" % (level, (b"&b%d;" % (level - 1) if level else b"&b;") * 20) for level in range(6)
        ) + b"]><a>&b5;</a>",
        b"<a>" + b" " * MAX_TREE_BYTES + b"</a>",
    ],
)  # fmt: skip
@pytest.mark.parametrize("read", [android_texts, linux_texts])
def test_what_is_no_tree_is_refused(tree: bytes, read: Callable[[bytes], ScreenTexts]) -> None:
    with pytest.raises(TransportError):
        read(tree)
