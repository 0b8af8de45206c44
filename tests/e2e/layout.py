"""Whether what a page says can be read: no text is cut off, and no text lies on another."""

import asyncio
import contextlib
import json

from playwright.async_api import Page

from tests.e2e.episode_page import BOUND_MS

LOOK_MS = 100
FAULTS = """
() => {
    const SLACK = 2;
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const scrolls = style => /auto|scroll/.test(style.overflowX);
    const clips = style => style.overflowX !== "visible";
    /** What is left of a box inside of all that clips it; null where it is hidden, or can be scrolled to. */
    const clipped = (element, box) => {
        let { left, right, top, bottom } = box;
        for (let at = element; at !== null && at !== document.body; at = at.parentElement) {
            const style = getComputedStyle(at);
            if (style.display !== "inline" && clips(style)) {
                const edge = at.getBoundingClientRect();
                if (edge.width < 2 || edge.height < 2) return null;
                if (scrolls(style) && (left < edge.left - SLACK || right > edge.right + SLACK)) return null;
                if (bottom <= edge.top || top >= edge.bottom) return null;
                left = Math.max(left, edge.left);
                right = Math.min(right, edge.right);
                top = Math.max(top, edge.top);
                bottom = Math.min(bottom, edge.bottom);
            }
            if (style.position === "fixed") break;
        }
        return { left, right, top, bottom };
    };
    /** What stays in its place while the rest is scrolled below it. */
    const layer = element => {
        let at = element;
        while (at !== null && !/sticky|fixed/.test(getComputedStyle(at).position)) at = at.parentElement;
        return at;
    };
    const said = ({ text, element }) => `${text.slice(0, 60)} <${element.tagName} class="${element.className}">`;
    const faults = [];
    while (walker.nextNode()) {
        const node = walker.currentNode;
        const element = node.parentElement;
        const text = node.data.trim();
        if (text === "" || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        if (element.closest("[aria-hidden=true], [inert], svg, canvas, pre, option, script, style") !== null) continue;
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) {
            if (box.width < 1) continue;
            const part = clipped(element, box);
            if (part === null) continue;
            const whole = part.left <= box.left + SLACK && part.right >= box.right - SLACK;
            if (!whole && element.closest("[title]") === null) faults.push(`cut: ${said({ text, element })}`);
            else texts.push({ ...part, text, element, layer: layer(element) });
        }
    }
    for (const [index, one] of texts.entries())
        for (const other of texts.slice(index + 1)) {
            if (one.layer !== other.layer) continue;
            if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
            const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
            const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
            if (across > SLACK && down > 2 * SLACK) faults.push(`overlap: ${said(one)} and ${said(other)}`);
        }
    if (texts.length === 0) faults.push("no text");
    return [...new Set(faults)];
}
"""
"""Texts that are cut off with no tooltip that has them whole, and pairs of texts of which one covers the other."""


async def assert_readable(page: Page) -> None:
    """The page has text, none of it cut off or on another, once what follows the window's size was drawn."""
    faults = ["not looked at in time"]
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(BOUND_MS / 1000):
            while faults := await page.evaluate(FAULTS):
                await page.wait_for_timeout(LOOK_MS)
    assert not faults, f"at {page.viewport_size}: " + json.dumps(faults, indent=1, ensure_ascii=False)
