"""A small JSON client over one keep-alive connection, for requests besides those of a suite's real client."""

import http.client
import json
import socket
import ssl
import urllib.parse

from lib.server import SLOWDOWN


class Answer:
    """One response: `code`, `headers`, `text` and, for JSON, `body`."""

    def __init__(self, response, text):
        self.code = response.status
        self.headers = response.headers
        self.text = text

    @property
    def body(self):
        return json.loads(self.text)

    def expect(self, *codes):
        """The parsed body, provided that the status is one of `codes` (200 and 201 if none are named)."""
        if self.code not in (codes or (200, 201)):
            raise AssertionError(f"HTTP {self.code} instead of {codes or (200, 201)}: {self.text[:2000]}")
        return self.body


class Rest:
    """Not safe for several threads; give each its own."""

    def __init__(self, url, token=None, ssl_context=None, timeout=30 * SLOWDOWN):
        parts = urllib.parse.urlsplit(url)
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        if parts.scheme == "https":
            context = ssl_context or ssl.create_default_context()
            self._connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=context)
        else:
            self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

    def _send(self, method, path, body, headers):
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        all_headers = {"Accept": "application/json", **self._headers, **(headers or {})}
        if body is not None:
            all_headers.setdefault("Content-Type", "application/json")
        self._connect()
        self._connection.request(method, self._prefix + path, body, all_headers)
        return self._connection.getresponse()

    def _connect(self):
        if self._connection.sock is None:
            self._connection.connect()
            # Headers and body leave in two writes; without this each request waits for a delayed acknowledgement.
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def request(self, method, path, body=None, headers=None):
        response = self._send(method, path, body, headers)
        return Answer(response, response.read().decode())

    def stream(self, method, path, headers=None):
        """The open response itself, for a watch: the caller reads lines from it and closes this client."""
        return self._send(method, path, None, headers)

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, body):
        return self.request("POST", path, body)

    def put(self, path, body):
        return self.request("PUT", path, body)

    def delete(self, path, body=None):
        return self.request("DELETE", path, body)

    def patch(self, path, body, kind="merge"):
        content_type = {
            "merge": "application/merge-patch+json",
            "json": "application/json-patch+json",
            "strategic": "application/strategic-merge-patch+json",
        }[kind]
        return self.request("PATCH", path, body, {"Content-Type": content_type})

    def close(self):
        self._connection.close()
