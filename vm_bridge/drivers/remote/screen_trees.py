"""Extracts a screen's texts from accessibility trees; pure functions."""

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.machine_io import MAX_TITLE_LENGTH, MAX_TITLES, ScreenTexts, screen_words

MAX_TREE_BYTES = 4 * 2**20
"""Longer trees are rejected."""
PAGE_FIELDS = ("input", "textarea", "select")
"""Classes of a page's input fields."""
ANDROID_FIELDS = ("EditText", "AutoCompleteTextView")
"""Suffixes of Android's input field classes."""
LINUX_FIELDS = ("entry", "password-text", "text", "spin-button", "terminal", "document-text", "paragraph")
"""AT-SPI roles whose names may be a person's input."""
LINUX_WINDOWS = ("frame", "dialog", "window", "file-chooser", "alert")


def android_texts(tree: bytes) -> ScreenTexts:
    """The texts of a `uiautomator dump`, without input fields.

    Raises:
        TransportError: it is no tree, or longer than `MAX_TREE_BYTES`.
    """

    def shown() -> Iterator[str]:
        for node in _parse(tree).iter("node"):
            kind = node.get("class", "")
            if not (kind in PAGE_FIELDS or kind.endswith(ANDROID_FIELDS) or node.get("password") == "true"):
                yield from (node.get("text", ""), node.get("content-desc", ""))

    return ScreenTexts(words=screen_words(shown()))


def linux_texts(tree: bytes) -> ScreenTexts:
    """Window titles and the names of the shown elements, from AT-SPI's tree as OSWorld's server writes it.

    Raises:
        TransportError: it is no tree, or longer than `MAX_TREE_BYTES`.
    """
    nodes = [(_local_name(node.tag), node) for node in _parse(tree).iter()]
    titles = (node.get("name", "").strip()[:MAX_TITLE_LENGTH] for role, node in nodes if role in LINUX_WINDOWS)
    shown = (
        node.get("name", "")
        for role, node in nodes
        if role not in (*LINUX_WINDOWS, *LINUX_FIELDS) and _state(node, "showing") != "false"
        if _state(node, "editable") != "true"
    )
    return ScreenTexts(titles=_each_once(titles)[:MAX_TITLES], words=screen_words(shown))


def _parse(tree: bytes) -> ElementTree.Element:
    if len(tree) > MAX_TREE_BYTES:
        raise TransportError(f"the tree of the screen has more than {MAX_TREE_BYTES} bytes")
    try:
        # Expat limits entity expansion since 2.4.1, and the tree's size is limited.
        return ElementTree.fromstring(tree)  # noqa: S314
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise TransportError(f"the tree of the screen is no XML: {error}") from None


def _state(node: ElementTree.Element, state: str) -> str | None:
    """A state of an element in any namespace; None if the tree does not have it."""
    return next((value for name, value in node.attrib.items() if _local_name(name) == state), None)


def _local_name(name: str) -> str:
    return name.rpartition("}")[2]


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in dict.fromkeys(texts) if text)
