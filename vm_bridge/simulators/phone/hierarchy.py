"""What the screen shows as a list of nodes, for programs that do not look: `uiautomator dump`."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from xml.etree import ElementTree

NODES_SCRIPT = """
const shown = (element) => element.checkVisibility({ visibilityProperty: true });
const own = (element) =>
  [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join("").trim();
const taps = (element) => element.matches("button, a, input, textarea, select, [role=button], [role=switch]");
const read = (element) => {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const text = own(element) || element.value || "";
  const label = element.getAttribute("aria-label") || element.placeholder || "";
  return [element.localName, text, label, taps(element), left, top, right, bottom];
};
const tells = ([, text, label, taps, left, top, right, bottom]) =>
  (text || label || taps) && right > Math.max(left, 0) && bottom > Math.max(top, 0)
    && left < innerWidth && top < innerHeight;
return [...document.body.querySelectorAll("*")].filter(shown).map(read).filter(tells);
"""
"""Gives every element of a page that shows or takes something and lies on the screen."""


class Node(NamedTuple):
    """One element: what kind it is, what it says, what it is called, whether it takes touches, and where it lies."""

    kind: str
    text: str
    label: str
    clickable: bool
    bounds: tuple[int, int, int, int]
    """Left, top, right and bottom (pixels)."""


def parse_nodes(given: Iterable[Any]) -> list[Node]:
    """The nodes a page gave."""
    return [
        Node(kind, str(text), str(label), bool(taps), tuple(map(round, bounds)))
        for kind, text, label, taps, *bounds in given
    ]


def to_xml(nodes: Iterable[Node], package: str) -> bytes:
    """In the form Android's own program writes, without the nesting."""
    root = ElementTree.Element("hierarchy", rotation="0")
    for index, node in enumerate(nodes):
        left, top, right, bottom = node.bounds
        described = {
            "index": str(index),
            "text": node.text,
            "class": node.kind,
            "package": package,
            "content-desc": node.label,
            "clickable": "true" if node.clickable else "false",
            "bounds": f"[{left},{top}][{right},{bottom}]",
        }
        ElementTree.SubElement(root, "node", described)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))
