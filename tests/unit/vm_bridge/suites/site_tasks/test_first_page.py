"""The first page of a live site: where it does not come, or refuses, the attempt says nothing of a policy."""

import pytest

from vm_bridge.browser import ScriptFailed
from vm_bridge.suites.site_tasks.suite import check_first_page

URL = "https://shop.example/"


@pytest.mark.parametrize("page", [[URL, 200], ["https://www.shop.example/en", 304], [URL, 0]])
def test_a_page_that_came_is_taken(page: object) -> None:
    check_first_page(URL, page)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ([URL, 403], "status 403"),
        ([URL, 503], "status 503"),
        (["chrome-error://chromewebdata/", 0], "cannot be reached"),
        (["about:blank", 0], "cannot be reached"),
        (None, "cannot be reached"),
    ],
)
def test_a_page_that_did_not_come_is_told(page: object, reason: str) -> None:
    with pytest.raises(ScriptFailed, match=reason):
        check_first_page(URL, page)
