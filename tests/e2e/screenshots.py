"""Screenshots for the documentation, taken on the way of end-to-end tests: test-results/screenshots/NAME.png.

A name is that of the screen: `desk`, `replay`, `pools`. Each run replaces the files, so that they show the present
screens.
"""

import re

from playwright.async_api import Page

from annotation_app.operations.runtime.stack import ROOT

FOLDER = ROOT / "test-results" / "screenshots"


async def take_screenshot(page: Page, name: str) -> None:
    """Write what the page shows now, without waiting; its caret and animations stand still."""
    file = FOLDER / f"{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}.png"
    await page.screenshot(path=file, animations="disabled")
