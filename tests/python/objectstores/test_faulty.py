"""What stands before a store does each thing that it says, and passes everything else on."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from objectstores.faulty import FAULTS, Fault, Faults, FaultyStore, Request


class Store(BaseHTTPRequestHandler):
    """Keeps what is put."""

    protocol_version = "HTTP/1.1"
    kept: dict[str, bytes]

    def do_PUT(self) -> None:
        self.kept[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, b"")

    def do_GET(self) -> None:
        found = self.kept.get(self.path)
        self.answer(200 if found else 404, found or b"")

    do_HEAD = do_GET  # noqa: N815

    def answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("x-kept", "yes")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Always(Faults):
    """Does one thing to every request, at once."""

    def __init__(self, fault: Fault | None) -> None:
        super().__init__(1, 0)
        self.fault = fault

    def draw(self, request: Request) -> tuple[Fault | None, float]:
        super().draw(request)
        return self.fault, 0.0


@pytest.fixture
def store() -> Iterator[FaultyStore]:
    Store.kept = {}
    behind = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    threading.Thread(target=behind.serve_forever, daemon=True).start()
    before = FaultyStore(("127.0.0.1", behind.server_address[1]), Always(None))
    before.start()
    yield before
    for server in (before, behind):
        server.shutdown()
        server.server_close()


def ask(store: FaultyStore, method: str, content: bytes | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", store.server_address[1])
    try:
        connection.request(method, "/a", content)
        answer = connection.getresponse()
        assert (answer.getheader("x-kept") == "yes") == (answer.status in (200, 404))
        return answer.status, answer.read()
    finally:
        connection.close()


def test_without_a_fault_everything_is_passed_on(store: FaultyStore) -> None:
    assert ask(store, "GET") == (404, b"")
    assert ask(store, "PUT", b"content") == (200, b"")
    assert ask(store, "GET") == (200, b"content")
    assert ask(store, "HEAD") == (200, b"")
    assert [request.verb for request in store.faults.requests] == ["GET", "PUT", "GET", "HEAD"]


def test_a_request_says_what_is_asked_for() -> None:
    copied = Message()
    copied["x-amz-copy-source"] = "/bucket/a"
    assert Request.of("PUT", "/bucket/a%20b/c", Message()) == ("PUT", "a b/c")
    assert Request.of("PUT", "/bucket/b", copied) == ("COPY", "b")
    listed = "/bucket/?list-type=2&prefix=a%2Fstate%2F&max-keys=2"
    assert Request.of("GET", listed, Message()) == ("LIST", "a/state/")
    assert Request.of("GET", "/bucket?list-type=2", Message()) == ("LIST", "")


@pytest.mark.parametrize(("fault", "status"), [("busy", 503), ("broken", 500), ("late", 200)])
def test_an_answer_that_refuses_or_comes_later(
    store: FaultyStore, fault: Fault, status: int
) -> None:
    store.faults = Always(fault)
    assert ask(store, "PUT", b"content")[0] == status
    assert Store.kept == ({} if fault == "busy" else {"/a": b"content"})


@pytest.mark.parametrize("fault", ["unheard", "unanswered"])
def test_a_connection_that_breaks_before_or_after_it_is_done(
    store: FaultyStore, fault: Fault
) -> None:
    store.faults = Always(fault)
    with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
        ask(store, "PUT", b"content")
    assert Store.kept == ({} if fault == "unheard" else {"/a": b"content"})


def test_an_answer_that_ends_in_its_middle(store: FaultyStore) -> None:
    ask(store, "PUT", b"content")
    store.faults = Always("cut")
    with pytest.raises((ConnectionError, http.client.IncompleteRead)):
        ask(store, "GET")


def test_the_same_seed_draws_the_same_and_every_fault() -> None:
    first, second = (draws(Faults(0.5, 7)), draws(Faults(0.5, 7)))
    assert first == second
    assert first != draws(Faults(0.5, 8))
    assert {fault for fault, _ in first} == {None, *FAULTS}
    assert Faults(0, 7).draw(Request("GET", "a")) == (None, 0.0)


def draws(faults: Faults) -> list[tuple[Fault | None, float]]:
    return [faults.draw(Request("GET", "a")) for _ in range(500)]
