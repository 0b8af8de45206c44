"""What is scrolled by the wheel is shown scrolled, and the page goes on."""

import pytest

from vm_bridge.browser import Engine
from vm_bridge.suites.miniwob import MiniWob

AT = "(box => [box.x + box.width / 2, box.y + box.height / 2])(document.querySelector('%s').getBoundingClientRect())"


@pytest.mark.parametrize("name", ["scroll-text", "scroll-text-2"])
async def test_a_text_area_scrolls_that_has_no_layer_of_its_own(exact: Engine, name: str) -> None:
    suite = MiniWob()
    task = suite.make(name, seed=0, size=(1280, 720))
    scene = suite.scene(task)
    session = await exact.open(scene.site, size=scene.size, seed=0, start_time=scene.start_time)
    await session.goto(scene.url)
    await suite.set_up(task, session)
    x, y = await session.evaluate(AT % "#text-area")
    top = "document.querySelector('#text-area').scrollTop"
    await session.wheel(x, y, 0, -2000)
    await session.settle(1000)
    assert await session.evaluate(top) == 0
    seen = await session.picture()
    await session.wheel(x, y, 0, 100)
    assert (await session.settle(1000)).settled
    assert await session.evaluate(top) > 0
    assert await session.picture() != seen
