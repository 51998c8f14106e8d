"""Stands before an object store, and does to requests what networks and busy stores do to them."""

from __future__ import annotations

import contextlib
import http.client
import random
import socket
import struct
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

Fault = Literal["busy", "broken", "unheard", "unanswered", "cut", "late"]
FAULTS: tuple[Fault, ...] = ("busy", "broken", "unheard", "unanswered", "cut", "late")
_LATEST_SECONDS = 2.0
_NOT_PASSED_ON = {"connection", "transfer-encoding", "content-length", "date", "server"}


class Request(NamedTuple):
    """What a store was asked for.

    Attributes:
        verb: the method; LIST and COPY for what S3 has no method of.
        key: path of the object without the bucket, or what those that are listed begin with.
    """

    verb: str
    key: str

    @classmethod
    def of(cls, method: str, path: str, headers: Message) -> Request:
        """Return what a request of S3's protocol asks for."""
        url = urlsplit(path)
        query = parse_qs(url.query)
        key = unquote(url.path).lstrip("/").partition("/")[2]
        if method == "GET" and "list-type" in query:
            return cls("LIST", query.get("prefix", [""])[0])
        return cls("COPY" if "x-amz-copy-source" in headers else method, key)


@dataclass
class Faults:
    """Draws what happens to each request; for any number of threads.

    `busy` is a 503 and nothing done; `broken` a 500 although it is done; `unheard` a connection
    that breaks before the store hears of the request, `unanswered` one that breaks when it has done
    it; `cut` an answer that ends in its middle; `late` a request that is done later, also when who
    sent it has gone.

    Attributes:
        rate: share of the requests that something happens to.
        seed: of the draws.
        done: how often each fault happened.
        requests: what was asked for, in this order.
    """

    rate: float
    seed: int
    done: Counter[Fault] = field(default_factory=Counter)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()

    def draw(self, request: Request) -> tuple[Fault | None, float]:
        """Draw what happens to a request, and for `late` how late it is in seconds."""
        with self._lock:
            self.requests.append(request)
            if self._random.random() >= self.rate:
                return None, 0.0
            fault = self._random.choice(FAULTS)
            self.done[fault] += 1
            return fault, self._random.uniform(0, _LATEST_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    """Passes requests on; the server has the faults and the address of the store."""

    protocol_version = "HTTP/1.1"
    server: FaultyStore

    def do_GET(self) -> None:
        body = self._body()
        request = Request.of(self.command, self.path, self.headers)
        fault, seconds = self.server.faults.draw(request)
        if fault == "busy":
            self._answer(503, [], _error("SlowDown"))
            return
        if fault == "unheard":
            self._break()
            return
        if fault == "late":
            time.sleep(seconds)
        status, headers, content = self._pass_on(body)
        if fault == "broken":
            self._answer(500, [], _error("InternalError"))
        elif fault == "unanswered":
            self._break()
        else:
            self._answer(status, headers, content, cut=fault == "cut")

    do_PUT = do_POST = do_DELETE = do_HEAD = do_GET  # noqa: N815

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(pieces)

    def _pass_on(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(*self.server.store)
        try:
            kept = {n: v for n, v in self.headers.items() if n.lower() != "transfer-encoding"}
            if "expect" in (name.lower() for name in kept):
                kept = {n: v for n, v in kept.items() if n.lower() != "expect"}
            connection.request(self.command, self.path, body, {**kept, "Connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def _answer(
        self, status: int, headers: list[tuple[str, str]], content: bytes, *, cut: bool = False
    ) -> None:
        length = len(content)
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in _NOT_PASSED_ON:
                self.send_header(name, value)
            elif name.lower() == "content-length" and self.command == "HEAD":
                length = int(value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.wfile.flush()
            self._break()

    def _break(self) -> None:
        """Reset the connection, as one does whose other end is gone."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def handle(self) -> None:
        """Handle the requests of a connection, which its other end may have given up."""
        try:
            super().handle()
        except (OSError, ValueError):
            self.close_connection = True

    def finish(self) -> None:
        """End a connection that may be broken."""
        with contextlib.suppress(OSError, ValueError):
            super().finish()

    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""


class FaultyStore(ThreadingHTTPServer):
    """Serves on a free port of this machine what another server has.

    Args:
        store: host and port of the other server.
        faults: what happens to the requests; another one may take its place at any time.
    """

    daemon_threads = True

    def __init__(self, store: tuple[str, int], faults: Faults) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store = store
        self.faults = faults

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        """Serve from now on, in threads of its own."""
        threading.Thread(target=self.serve_forever, daemon=True).start()


def _error(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>drawn</Message></Error>".encode()
