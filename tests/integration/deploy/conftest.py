"""People, pools and tasks in a real database, as the web app's tests have them."""

from tests.integration.web import conftest as web_fixtures

data = web_fixtures.data
committed = web_fixtures.committed
