import asyncio
import base64
import threading
import time
from collections.abc import Callable
from pathlib import Path

import bcrypt
import pytest
import requests

from benchwatch.server.webconfig import Users, WebConfig, WebConfigFile
from tests.support.serving import FakeExporter, served
from tests.support.waiting import PATIENCE

PASSWORD = "pä55 wörd:x"
HASHES = {
    "anna": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode(),
    "bob": bcrypt.hashpw(b"y" * 72, bcrypt.gensalt(4)).decode().replace("$2b$", "$2y$", 1),
}


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class CountingBcrypt:
    """bcrypt, taking note of what it is asked."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.check: Callable[[bytes, bytes], bool] = bcrypt.checkpw

    def __call__(self, password: bytes, digest: bytes) -> bool:
        self.asked.append(digest)
        return self.check(password, digest)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> CountingBcrypt:
    instead = CountingBcrypt()
    monkeypatch.setattr(bcrypt, "checkpw", instead)
    return instead


def admitted(users: Users, *headers: str | None) -> list[str]:
    async def ask() -> list[str]:
        return list(await asyncio.gather(*(users.admitted(header) for header in headers)))

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("header", "user"),
    [
        (basic("anna", PASSWORD), "anna"),
        (basic("anna", PASSWORD).replace("Basic", "BASIC"), "anna"),
        (basic("bob", "y" * 72), "bob"),
        (basic("bob", "y" * 71), ""),
        (basic("bob", "y" * 100), "bob"),  # bcrypt sees 72 bytes
        (basic("anna", PASSWORD + "x"), ""),
        (basic("anna", ""), ""),
        (basic("bob", PASSWORD), ""),
        (basic("carl", PASSWORD), ""),
        (basic("", PASSWORD), ""),
        (basic("anna", "a\0b"), ""),
        ("Bearer abc", ""),
        ("Basic", ""),
        ("Basic !!!", ""),
        ("Basic " + base64.b64encode(b"anna").decode(), ""),
        ("Basic " + base64.b64encode(b"\xff\xfe:\xff").decode(), ""),
        ("Basic é", ""),
        (None, ""),
    ],
)
def test_who_is_admitted(header: str | None, user: str) -> None:
    assert admitted(Users(HASHES), header) == [user]


def test_bcrypt_is_asked_once_for_the_same_answer(counting: CountingBcrypt) -> None:
    good, bad = basic("anna", PASSWORD), basic("anna", "wrong")
    assert admitted(Users(HASHES), good, bad, good, bad, good) == ["anna", "", "anna", "", "anna"]
    assert len(counting.asked) == 2


def test_a_remembered_user_does_not_wait_for_the_check_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def check(password: bytes, _digest: bytes) -> bool:
        return password == PASSWORD.encode() or not answered.wait(PATIENCE)

    monkeypatch.setattr(bcrypt, "checkpw", check)
    users = Users(HASHES)
    good, bad = basic("anna", PASSWORD), basic("anna", "wrong")
    assert admitted(users, good) == ["anna"]

    async def ask() -> list[str]:
        guess = asyncio.create_task(users.admitted(bad))
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            user = await users.admitted(good)
        answered.set()
        return [user, await guess]

    assert asyncio.run(ask()) == ["anna", ""]


def test_an_unknown_user_costs_a_comparison_too(counting: CountingBcrypt) -> None:
    assert admitted(Users(HASHES), basic("carl", PASSWORD)) == [""]
    assert len(counting.asked) == 1
    assert counting.asked[0].decode() in HASHES.values()


def test_a_user_in_use_is_remembered_however_many_wrong_passwords_are_tried(counting: CountingBcrypt) -> None:
    users = Users(HASHES)
    for number in range(250):
        admitted(users, basic("anna", PASSWORD), basic("anna", f"guess {number}"))
    assert len(counting.asked) == 251


def test_wrong_passwords_do_not_make_it_forget_a_right_one(counting: CountingBcrypt) -> None:
    users = Users(HASHES)
    good = basic("anna", PASSWORD)
    admitted(users, good)

    async def guess() -> None:
        for number in range(1500):
            assert not await users.admitted(basic("anna", f"guess {number}"))

    asyncio.run(guess())
    assert admitted(users, good) == ["anna"]
    assert len(counting.asked) == 1501


def test_one_password_is_checked_at_a_time_and_once_for_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, busy, most = [], [0], [0]

    def check(password: bytes, _digest: bytes) -> bool:
        begun.append(password)
        busy[0] += 1
        most[0] = max(most[0], busy[0])
        time.sleep(0.01)
        busy[0] -= 1
        return password == PASSWORD.encode()

    monkeypatch.setattr(bcrypt, "checkpw", check)
    headers = [basic("anna", password) for password in ("one", PASSWORD, "one", PASSWORD, "two")]
    assert admitted(Users(HASHES), *headers) == ["", "anna", "", "anna", ""]
    assert (begun, most) == ([b"one", PASSWORD.encode(), b"two"], [1])


@pytest.mark.parametrize("path", ["/", "/metrics", "/-/healthy", "/nowhere", "/ingest/r/w"])
def test_every_page_asks_for_a_user(path: str) -> None:
    with served(FakeExporter(), config=WebConfig(users=Users(HASHES))) as server:
        for auth in (None, ("anna", "wrong"), ("carl", PASSWORD)):
            answer = requests.get(server.url + path, auth=auth)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"] == 'Basic realm="benchwatch", charset="UTF-8"'
            assert answer.text == "expected a user and password that have access\n"
        good = {"Authorization": basic("anna", PASSWORD)}
        assert requests.get(server.url + path, headers=good).status_code in (200, 404, 405)


def test_a_push_needs_a_user_and_the_page_names_the_one_who_looks(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path), config=WebConfig(users=Users(HASHES))) as server:
        refused = requests.put(f"{server.url}/ingest/r/w", data=b"x")
        assert list(tmp_path.iterdir()) == []
        good = {"Authorization": basic("anna", PASSWORD)}
        taken = requests.put(f"{server.url}/ingest/r/w", data=b"x", headers=good)
        page = requests.get(server.url, headers=good).text
    assert (refused.status_code, taken.status_code) == (401, 200)
    assert "curl -sS -u anna -T - " in page


def test_a_changed_password_holds_without_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "web.yml"

    def write(password: str) -> None:
        digest = bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()
        path.write_text(f"basic_auth_users: {{anna: '{digest}'}}\n# {password}\n")

    write("old")
    with served(FakeExporter(), config=WebConfigFile(path)) as server:
        for password in ("old", "newer", "newest one"):
            write(password)
            codes = [requests.get(server.url, auth=("anna", one)).status_code for one in ("old", "newer", "newest one")]
            assert codes == [200 if one == password else 401 for one in ("old", "newer", "newest one")]
