import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchwatch.nutanix.client import Client, PageError, vdisk_query
from benchwatch.nutanix.simulator.cluster import Cluster
from tests.support.cvm.varied_cvm import VariedCvm
from tests.support.waiting import PATIENCE

BASE = "http://cvm:2009"


def simulated(*variations: str, sleep: Callable[[float], None] = time.sleep) -> VariedCvm:
    cluster = Cluster("checkpoint", cvms=1, vdisks=4, seed=1, clock=time.monotonic)
    return VariedCvm(cluster, variations=variations, sleep=sleep)


def failure(client: Client) -> PageError:
    with pytest.raises(PageError) as caught:
        client.get("/")
    return caught.value


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A server that sends these bytes to whoever connects, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(PATIENCE)


@pytest.mark.parametrize("variation", ["", "chunked", "no-length"])
def test_a_whole_page_is_read_however_it_is_sent(variation: str) -> None:
    with simulated(*filter(None, [variation])) as cvm:
        body = Client(cvm.url).get("/")
    assert body.startswith(b"<html>")
    assert body.endswith(b"</html>\n")
    assert cvm.requests == ["/"]


def test_the_page_of_a_vdisk_is_asked_for_with_the_query_of_its_link() -> None:
    with simulated() as cvm:
        body = Client(cvm.url).get("/vdisk_stats", "vdisk_id=45269")
    assert b"VDisk 45269 Read Source" in body
    assert cvm.requests == ["/vdisk_stats?vdisk_id=45269"]


@pytest.mark.parametrize(
    ("variation", "reason", "text"),
    [
        ("http500", "http_status", "HTTP status 500"),
        ("redirect", "redirect", "redirects to 'http://127.0.0.1:1/h/gflags?from=0', not followed"),
        ("truncated", "truncated", "ends after"),
        ("truncated-chunked", "truncated", "ends after 1"),
        ("truncated-close", "truncated", "ends inside a table after"),
        ("closed", "closed", "closed the connection without an answer"),
        ("not-http", "protocol", "does not speak HTTP"),
    ],
)
def test_an_answer_that_is_no_page_fails_by_its_reason(variation: str, reason: str, text: str) -> None:
    with simulated(variation) as cvm:
        error = failure(Client(cvm.url))
    assert error.reason == reason
    assert text in error.text
    assert cvm.requests == ["/"]


def test_a_refused_connection() -> None:
    with simulated("refused") as cvm:
        error = failure(Client(cvm.url))
    assert error.reason == "refused"
    assert urlsplit(cvm.url).netloc in error.text


def test_a_host_without_an_address_is_unreachable() -> None:
    assert failure(Client("http://cvm.invalid")).reason == "unreachable"


@pytest.mark.parametrize("variation", ["slow", "slow-header", "late"])
def test_a_page_that_drips_or_comes_late_ends_at_the_deadline(variation: str) -> None:
    stop = threading.Event()

    def sleep(seconds: float) -> None:
        stop.wait(min(seconds, PATIENCE))

    with simulated(variation, sleep=sleep) as cvm:
        began = time.monotonic()
        error = failure(Client(cvm.url, deadline=0.4))
        passed = time.monotonic() - began
        stop.set()
    assert (error.reason, error.text) == ("timeout", "no complete page within 0.4 s")
    assert 0.35 < passed < PATIENCE  # the header alone would drip for three hours


def test_a_page_that_comes_late_but_in_time_is_read() -> None:
    with simulated("late", sleep=lambda seconds: time.sleep(0.3)) as cvm:
        assert Client(cvm.url, deadline=PATIENCE).get("/")


def test_a_huge_body_is_given_up_at_the_limit() -> None:
    with simulated("huge") as cvm:
        error = failure(Client(cvm.url, max_page_bytes=100_000))
    assert (error.reason, error.text) == ("too_large", "more than 100000 bytes")


def test_a_body_that_says_it_is_huge_is_not_read() -> None:
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n") as url:
        assert failure(Client(url)).reason == "too_large"


def test_a_page_of_untold_length_that_leaves_tags_open_is_taken_as_whole_outside_tables() -> None:
    with answering(b"HTTP/1.0 200 OK\r\n\r\n<html><table><tr><td>1</table><p>end") as url:
        assert Client(url).get("/").endswith(b"<p>end")


def test_a_body_encoded_unasked_is_not_decoded() -> None:
    with answering(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00") as url:
        assert Client(url).get("/") == b"\x1f\x8b\x08\x00"


def test_nothing_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with simulated() as cvm:
        assert Client(cvm.url).get("/")


def test_one_request_at_a_time_whoever_asks() -> None:
    with simulated("late", sleep=lambda seconds: time.sleep(0.03)) as cvm:
        client = Client(cvm.url)
        threads = [threading.Thread(target=client.get, args=("/",)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert len(cvm.requests) == 5
    assert cvm.most_at_once == 1


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/h/gflags", ""),
        ("/h/exit", ""),
        ("/latency/reset", ""),
        ("/vdisk_stats/", ""),
        ("//h/exit", ""),
        ("/", "a=1"),
        ("/oplog_flush_stats", "a=1"),
        ("/vdisk_stats", "a=1#x"),
        ("/vdisk_stats", "a=1 HTTP/1.1\r\nHost: x"),
        ("/vdisk_stats", "/../h/exit"),
        ("/vdisk_stats", "a=%zz"),
        ("/vdisk_stats?vdisk_id=1", ""),
    ],
)
def test_no_other_page_can_be_asked_for(path: str, query: str) -> None:
    with simulated() as cvm:
        with pytest.raises(ValueError, match="not one of the allowed pages"):
            Client(cvm.url).get(path, query)  # type: ignore[arg-type]
        assert cvm.requests == []


@pytest.mark.parametrize(
    "href",
    [
        "/vdisk_stats?vdisk_id=45269",
        "vdisk_stats?vdisk_id=45269",
        "http://cvm:2009/vdisk_stats?vdisk_id=45269",
        "http://CVM:2009/vdisk_stats?vdisk_id=45269",
        "//cvm:2009/vdisk_stats?vdisk_id=45269",
    ],
)
def test_a_link_to_a_vdisk_on_the_same_host_is_followed(href: str) -> None:
    assert vdisk_query(href, BASE) == "vdisk_id=45269"


@pytest.mark.parametrize(
    "href",
    [
        "",
        "/vdisk_stats",
        "/vdisk_stats?",
        "/h/gflags?vdisk_id=1",
        "/vdisk_stats/../h/exit?x=1",
        "/x/vdisk_stats?x=1",
        "../vdisk_stats?x=1",
        "/vdisk_stats;x?x=1",
        "/VDISK_STATS?x=1",
        "/vdisk_stats?x=1#y",
        "/vdisk_stats?x=1#",
        "/vdisk_stats?x=1 ",
        "/vdisk_\nstats?x=1",
        "/vdisk_stats?x=<b>",
        "/vdisk_stats?x=%0d%0",
        "/vdisk_stats?x=" + "1" * 400,
        "http://other:2009/vdisk_stats?x=1",
        "http://cvm:2010/vdisk_stats?x=1",
        "http://cvm/vdisk_stats?x=1",
        "http://cvm:2009@other/vdisk_stats?x=1",
        "https://cvm:2009/vdisk_stats?x=1",
        "//other/vdisk_stats?x=1",
        "http:/vdisk_stats?x=1",
        "javascript:vdisk_stats?x=1",
        "\\\\other\\vdisk_stats?x=1",
        "http://[/vdisk_stats?x=1",
    ],
)
def test_any_other_link_is_not_followed(href: str) -> None:
    assert vdisk_query(href, BASE) is None


PIECES = ["/", "vdisk_stats", "?", "vdisk_id=1", "..", "%2e%2e", "%2f", "\\", "#", "@", "h/exit", "http:", "//", "CVM"]
STARTS = ["", "/vdisk_stats?", "//CVM/vdisk_stats?x", "http://CVM/"]
PIECES += ["\n", "\t", ";", ":", "evil", "&x", "é", "\x00", "%41", "%", " "]


def test_whatever_a_page_links_to_only_its_vdisk_pages_are_asked_for() -> None:
    with simulated() as cvm:
        client = Client(cvm.url)
        followed: list[str] = []

        @settings(max_examples=400)
        @given(
            st.builds(str.__add__, st.sampled_from(STARTS), st.lists(st.sampled_from(PIECES), max_size=5).map("".join))
        )
        @example("/vdisk_stats?%41=%2e%2e&x~@")
        @example("//CVM/vdisk_stats?a=%2F..%2Fh%2Fexit")
        def follow(href: str) -> None:
            query = vdisk_query(href.replace("CVM", urlsplit(cvm.url).netloc), cvm.url)
            if query is not None:
                followed.append(href)
                with suppress(PageError):
                    client.get("/vdisk_stats", query)

        follow()
        assert len(followed) > 20
        assert len(cvm.requests) == len(followed)
        for target in cvm.requests:
            assert re.fullmatch(r"/vdisk_stats\?[\w.:=&,~@%-]+", target, re.ASCII), target
