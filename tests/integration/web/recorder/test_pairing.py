"""Pairing a computer: codes are used once and end, tokens only upload recordings, and what is refused has a code."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation_app.accounts.models import Token
from annotation_app.audit.models import AuditEntry
from annotation_app.errors import ApplicationError
from annotation_app.imports.models import Upload
from annotation_app.recorder import services
from annotation_app.recorder.models import PairedComputer
from annotation_app.recorder.schemas import PAIRING_VERSION, Paired, PairIn, SessionUploadIn
from annotation_app.recorder.services import pairing
from annotation_app.tasks.models import Pool
from tests.integration.web.conftest import World

JSON = "application/json"
ADDRESS = "192.0.2.7"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    cache.clear()


def pair(code: str, version: int = PAIRING_VERSION, address: str = ADDRESS) -> Paired:
    return services.computer_pair(wanted=PairIn(code=code, version=version), address=address)


def refusal(code: str, **how: Any) -> str:
    with pytest.raises(ApplicationError) as caught:
        pair(code, **how)
    return caught.value.code


def call(token: str, method: str, path: str) -> Any:
    answer = getattr(Client(), method)(f"/api{path}", headers={"authorization": f"Bearer {token}"})
    return answer.status_code, answer.json()["code"] if answer.status_code >= 400 else None


def test_a_code_pairs_one_computer_once(committed: World) -> None:
    code, computer = services.code_make(user=committed.ada, name="Laptop")
    assert code not in str(vars(computer)), "only its digest is stored"
    paired = pair(code.lower().replace("-", " "))
    assert (paired.name, refusal(code)) == ("Laptop", "pairing_code_used")
    page = committed.client(committed.ada).get("/api/recorder").json()
    assert [one["name"] for one in page["computers"]] == ["Laptop"]
    verbs = AuditEntry.objects.filter(actor=committed.ada).values_list("verb", flat=True)
    assert "recorder.paired" in verbs


def test_codes_end_and_are_replaced(committed: World) -> None:
    first, _ = services.code_make(user=committed.ada, name="Laptop")
    second, computer = services.code_make(user=committed.ada, name="Laptop")
    assert refusal(first) == "pairing_code_expired"
    PairedComputer.objects.filter(pk=computer.pk).update(code_expires_at=timezone.now() - timedelta(seconds=1))
    assert refusal(second) == "pairing_code_expired"
    assert refusal("CCCC-CCCC") == "pairing_code_wrong"
    assert refusal(second, version=PAIRING_VERSION + 1) == "recorder_version"


def test_guesses_are_limited_by_address_and_right_codes_are_no_guesses(
    committed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "MAX_COMPUTERS", 50)
    for number in range(pairing.PAIRING_LIMIT.limit):
        pair(services.code_make(user=committed.ada, name=f"{number}")[0])
    codes = [refusal("CCCC-CCCC") for _ in range(pairing.PAIRING_LIMIT.limit + 1)]
    assert codes[-2:] == ["pairing_code_wrong", "pairing_throttled"]
    code, _ = services.code_make(user=committed.ada, name="Laptop")
    assert refusal(code) == "pairing_throttled"
    assert pair(code, address="198.51.100.4").name == "Laptop"


def test_the_token_uploads_recordings_and_nothing_else(committed: World) -> None:
    token = pair(services.code_make(user=committed.ada, name="Laptop")[0]).token
    assert call(token, "get", "/recorder/pools") == (200, None)
    for path in ("/queue", "/episodes", "/me/security", "/imports/uploads"):
        status, code = call(token, "get", path)
        assert (status, code) in ((403, "scope_missing"), (401, "not_signed_in")), path
    assert call(token, "get", "/recorder") == (401, "not_signed_in"), "the page is for people"
    status, code = call(token, "post", "/recorder/computers")
    assert (status, code) == (401, "not_signed_in"), "it pairs no other computer"


def test_a_revoked_and_an_expired_pairing_are_told_apart(committed: World) -> None:
    revoked = pair(services.code_make(user=committed.ada, name="Laptop")[0]).token
    expired = pair(services.code_make(user=committed.ada, name="Tower")[0]).token
    Token.objects.filter(computer__name="Tower").update(expires_at=timezone.now())
    computer = PairedComputer.objects.get(name="Laptop")
    others = committed.client(committed.ben).delete(f"/api/recorder/computers/{computer.pk}")
    assert others.status_code == 404
    assert committed.client(committed.ada).delete(f"/api/recorder/computers/{computer.pk}").status_code == 204
    assert call(revoked, "get", "/recorder/pools") == (401, "recorder_revoked")
    assert call(expired, "get", "/recorder/pools") == (401, "recorder_expired")
    assert call("no-such-token", "get", "/recorder/pools") == (401, "not_signed_in")
    own = pair(services.code_make(user=committed.ada, name="Third")[0]).token
    assert call(own, "delete", "/recorder/pairing") == (204, None)
    assert call(own, "get", "/recorder/pools") == (401, "recorder_revoked")


def test_codes_are_made_by_annotators_who_proved_who_they_are(committed: World) -> None:
    client = Client()
    client.force_login(committed.ada)
    answer = client.post("/api/recorder/computers", {"name": "Laptop"}, content_type=JSON)
    assert (answer.status_code, answer.json()["code"]) == (403, "reauthentication_required")
    answer = committed.client(committed.rosa).post("/api/recorder/computers", {"name": "Laptop"}, content_type=JSON)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def announce(world: World, size: int = 10, **fields: Any) -> Upload:
    wish = SessionUploadIn(**{"session": uuid4(), "pool": world.pool.pk, **fields})
    return services.session_upload_create(user=world.ada, size=size, wish=wish)


def refused(world: World, **fields: Any) -> str:
    with pytest.raises(ApplicationError) as caught:
        announce(world, **fields)
    return caught.value.code


def test_uploads_are_bounded_by_pool_size_and_number(committed: World, settings: Any) -> None:
    assert refused(committed) == "no_recording_pool"
    Pool.objects.update(takes_recordings=True)
    assert refused(committed, pool=committed.pool.pk + 1_000) == "no_recording_pool"
    assert refused(committed, task="nine") == "no_brief"
    bounds = {"recording_limit_bytes": 100, "recordings_per_day": 3, "recordings_per_person_bytes": 150}
    settings.ENV = settings.ENV.model_copy(update=bounds)
    assert refused(committed, size=101) == "recording_too_large"
    session = uuid4()
    first = announce(committed, size=90, session=session, task="one")
    second = announce(committed, size=100, session=session)
    assert Upload.objects.get(pk=first.pk).expires_at <= timezone.now(), "another try takes the place of the first"
    assert second.pool == committed.pool
    assert refused(committed, size=51) == "recordings_quota"
    announce(committed)
    announce(committed)
    assert refused(committed) == "recordings_per_day"
    committed.pool.members.remove(committed.ada)
    assert refused(committed, session=session) == "no_recording_pool"


def test_uploads_of_recordings_and_of_imports_do_not_see_each_other(committed: World) -> None:
    Pool.objects.update(takes_recordings=True)
    upload = announce(committed)
    ravi, ben, ada = (committed.client(user) for user in (committed.ravi, committed.ben, committed.ada))
    for client, path, status in (
        (ada, "recorder", 200),
        (ben, "recorder", 404),
        (ravi, "recorder", 403),
        (ravi, "imports", 404),
        (ada, "imports", 403),
    ):
        assert client.head(f"/api/{path}/uploads/{upload.pk}").status_code == status, path
