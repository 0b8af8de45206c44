"""Cookies of installations that share a host name."""

from annotation_app.settings.env import cookie_settings
from annotation_app.web.former_cookies import renamed_cookies

FORMER = {"1a-sessionid": "sessionid", "1a-csrftoken": "csrftoken"}


def test_installations_on_one_host_have_cookies_of_their_own() -> None:
    one, other = (cookie_settings(key, https=False) for key in ("one", "other"))
    assert one == cookie_settings("one", https=False)
    for name in ("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME"):
        assert one[name] != other[name]
        assert cookie_settings("one", https=True)[name] == f"__Host-{one[name]}"


def test_a_cookie_of_a_former_name_counts_where_there_is_no_other() -> None:
    cookies = (b"cookie", b"sessionid=a; csrftoken=b=; 1a-csrftoken=c")
    host = (b"host", b"sessionid=a")
    assert renamed_cookies([host, cookies], FORMER) == [host, (b"cookie", cookies[1] + b"; 1a-sessionid=a")]
    assert renamed_cookies([host], FORMER) == [host]
