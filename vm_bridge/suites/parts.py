"""What can be read on a page and where, for who teaches reading: the browser's own layout, letter by letter."""

from protocol.trajectory.observations import PageLayout
from vm_bridge.browser import ScriptFailed, Session
from vm_bridge.machine_io import screen_words

WORDS_SECONDS = 1.0
"""Longest that the page's words are looked for, since no act is done meanwhile."""
SCRIPT = """((withEditable) => {
  const CLICKED = "button, a, label, input, [role=tab], [role=menuitem], [data-at], .ui-button, .alink";
  const UNSEEN = ["SCRIPT", "STYLE", "TEXTAREA", "OPTION"];
  const MOST = 120, MOST_LETTERS = 50000, SHRUNK = 0.2;
  let measured = 0;
  const parts = [];
  const kindOf = (node) => {
    const box = node.closest("label")?.querySelector("input")?.type;
    if (box === "checkbox" || box === "radio") return box;
    if (node.closest("button, [role=tab], [role=menuitem], .ui-button")) return "button";
    return node.closest("a, .alink") ? "link" : node.closest("[data-at]") ? "button" : "text";
  };
  const add = (node, letters) => {
    while (letters.length && !letters[0].text.trim()) letters.shift();
    while (letters.length && !letters.at(-1).text.trim()) letters.pop();
    if (!letters.length || parts.length >= MOST) return;
    const first = letters[0].rect, last = letters.at(-1).rect;
    const x = (first.left + last.right) / 2, y = (first.top + first.bottom) / 2;
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return;
    const top = document.elementFromPoint(x, y);
    if (!top || !(node.contains(top) || top.contains(node))) return;
    const clicked = node.closest(CLICKED), high = first.height * SHRUNK;
    const text = letters.map((one) => one.text).join("");
    const alone = clicked && clicked.getClientRects().length === 1 && clicked.textContent.trim() === text.trim();
    const own = { left: first.left, top: first.top, right: last.right, bottom: first.bottom };
    const frame = alone ? clicked.getBoundingClientRect() : own;
    parts.push({
      kind: kindOf(node), text, bounds: [...letters.map((one) => one.rect.left), last.right],
      line: [first.top + high, first.bottom - high], box: [frame.left, frame.top, frame.right, frame.bottom],
    });
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
  const isDone = () => parts.length >= MOST || measured >= MOST_LETTERS;
  for (let node = walk.nextNode(); node && !isDone(); node = walk.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || UNSEEN.includes(parent.tagName) || (!withEditable && parent.isContentEditable)) continue;
    range.selectNodeContents(node);
    const around = range.getBoundingClientRect();
    if (around.right < 0 || around.bottom < 0 || around.left >= innerWidth || around.top >= innerHeight) continue;
    const style = getComputedStyle(parent);
    if (style.visibility !== "visible" || style.webkitTextSecurity !== "none") continue;
    let letters = [];
    for (let i = 0; i < node.data.length && !isDone(); i++, measured++) {
      range.setStart(node, i);
      range.setEnd(node, i + 1);
      const rect = range.getClientRects()[0];
      if (!rect || rect.width === 0) continue;
      if (letters.length && (Math.abs(rect.top - letters[0].rect.top) > 3 || rect.left < letters.at(-1).rect.left)) {
        add(parent, letters);
        letters = [];
      }
      letters.push({ text: node.data[i], rect });
    }
    add(parent, letters);
  }
  return { parts };
})"""
"""A function of whether editable text is read. What the page shows as dots is never read."""


async def read_parts(session: Session) -> str:
    """The page's parts as JSON (`PageLayout`). Changes nothing. Raises ScriptFailed."""
    return PageLayout.model_validate(await session.evaluate(f"{SCRIPT}(true)", world="own")).model_dump_json()


async def read_words(session: Session) -> tuple[str, ...]:
    """The page's words of four characters or more, each once, in reading order. Not those of input fields and editable
    text; none if the page does not answer in `WORDS_SECONDS`. Changes nothing.
    """
    try:
        answer = await session.evaluate(f"{SCRIPT}(false)", world="own", seconds=WORDS_SECONDS)
    except ScriptFailed:
        return ()
    layout = PageLayout.model_validate(answer)
    return screen_words(part.text for part in layout.parts)
