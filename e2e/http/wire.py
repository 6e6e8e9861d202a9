"""Raw HTTP: sockets that send any bytes, and a minimal reader of responses."""

import json
import os
import pathlib
import socket
import ssl
import tempfile
import unittest
import urllib.parse

from lib.server import BARE, Server

BINARY = os.environ["TERRARIUM_BINARY"]
TIMEOUT_S = 20
PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class Reply:
    """One response. `body` is complete, or the part of a stream that was read."""

    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.version, code, *_ = lines[0].split(" ")
        self.code = int(code)
        self.headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        self.body = body

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def status(self):
        """The body as a Status."""
        out = json.loads(self.body)
        assert (out["kind"], out["code"]) == ("Status", self.code), out
        return out


class Wire:
    """A connection. Received bytes that were not read yet stay in `rest`."""

    def __init__(self, url, tls=None, receive_buffer=None):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.socket()
        self.socket.settimeout(TIMEOUT_S)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect((parts.hostname, parts.port))
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=parts.hostname)
        self.rest = b""

    def send(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode())
        return self

    def request(self, method, path, fields="", body="", version="HTTP/1.1"):
        return self.send(f"{method} {path} {version}\r\nHost: localhost\r\n{fields}\r\n{body}")

    def _more(self):
        got = self.socket.recv(65536)
        self.rest += got
        return len(got) > 0

    def until(self, end):
        """The bytes up to and including `end`."""
        while end not in self.rest:
            if not self._more():
                raise AssertionError(f"closed before {end!r}: {self.rest[-500:]!r}")
        at = self.rest.index(end) + len(end)
        out, self.rest = self.rest[:at], self.rest[at:]
        return out

    def take(self, size):
        """That many bytes."""
        while len(self.rest) < size:
            if not self._more():
                raise AssertionError(f"closed before {size} bytes: {self.rest[-500:]!r}")
        out, self.rest = self.rest[:size], self.rest[size:]
        return out

    def head(self):
        """The head of a response whose body is read separately."""
        return Reply(self.until(b"\r\n\r\n")[:-4], b"")

    def chunk(self):
        size = int(self.until(b"\r\n"), 16)
        return self.take(size + 2)[:-2]

    def reply(self, to="GET"):
        out = self.head()
        if out.header("transfer-encoding") == "chunked":
            while got := self.chunk():
                out.body += got
        elif to != "HEAD":
            length = int(out.header("content-length") or 0)
            while len(self.rest) < length and self._more():
                pass
            out.body, self.rest = self.rest[:length], self.rest[length:]
        return out

    def is_closed(self):
        """The server closes, and sends nothing before."""
        try:
            return self.rest == b"" and not self._more()
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()


class WireCase(unittest.TestCase):
    """Tests of one class share a server."""

    flags = ()

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="terrarium-http-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.server = Server(cls.binary(), *BARE, *cls.server_flags(), folder=cls.folder, cwd=cls.folder)
        cls.addClassCleanup(cls.server.__exit__, None)

    @classmethod
    def binary(cls):
        return BINARY

    @classmethod
    def server_flags(cls):
        return cls.flags

    def wire(self, **options):
        out = Wire(self.server.url, **options)
        self.addCleanup(out.close)
        return out

    def create(self, name, data="x"):
        body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": data}})
        fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        reply = self.wire().request("POST", CONFIG_MAPS, fields, body).reply()
        self.assertEqual(reply.code, 201, reply.body)

    def memory(self):
        """Resident bytes of the server."""
        if "TSAN_OPTIONS" in os.environ:
            self.skipTest("the memory of the thread sanitizer itself would count")
        text = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) * 1024

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def trusting(certificate):
    """A TLS context that trusts this server certificate."""
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    return context
