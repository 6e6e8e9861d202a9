"""Limits for many clients and for misbehaving clients."""

import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import time

import websocket
from lib.server import BARE, SLOWDOWN, Server
from wire import BINARY, CONFIG_MAPS, TIMEOUT_S, Wire, WireCase, trusting

MIB = 1024 * 1024


class Bodies(WireCase):
    def test_a_length_over_the_limit_is_refused_before_the_body_comes(self):
        fields = f"Content-Type: application/json\r\nContent-Length: {3 * MIB + 1}\r\n"
        reply = self.wire().request("POST", CONFIG_MAPS, fields).reply()
        self.assertEqual((reply.code, reply.status["reason"]), (413, "RequestEntityTooLarge"))

    def test_the_answer_is_read_by_a_client_that_goes_on_sending(self):
        fields = f"Content-Type: application/json\r\nContent-Length: {9 * MIB}\r\n"
        wire = self.wire().request("POST", CONFIG_MAPS, fields)
        for _ in range(9):
            wire.send(b" " * MIB)
        self.assertEqual(wire.reply().code, 413)

    def test_large_bodies_take_no_memory_before_they_are_allowed(self):
        before = self.memory()
        wires = []
        for _ in range(30):
            wire = self.wire().request("POST", CONFIG_MAPS, f"Content-Length: {9 * MIB}\r\n")
            wire.send(b" " * (4 * MIB))
            wires.append(wire)
        self.assertLess(self.memory() - before, 30 * MIB)
        for wire in wires:
            self.assertEqual(wire.reply().code, 413)

    def test_chunks_over_the_limit(self):
        wire = self.wire().request("POST", CONFIG_MAPS, "Transfer-Encoding: chunked\r\n")
        self.assertEqual(wire.send(f"{3 * MIB + 1:x}\r\n").reply().code, 413)

    def test_health_is_answered_while_large_bodies_are_parsed(self):
        labels = {f"key-{i}": "v" * 110 for i in range(2_500)}  # more than is parsed on a loop
        body = json.dumps({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "many"}, "data": labels})
        fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        idle = [self.wire() for _ in range(8)]  # on every event loop
        posts = [self.wire().request("POST", CONFIG_MAPS, fields, body) for _ in range(6)]
        for wire in idle:
            self.assertEqual(wire.request("GET", "/healthz").reply().body, b"ok")
        codes = sorted(wire.reply().code for wire in posts)
        self.assertEqual(codes, [201, 409, 409, 409, 409, 409])


class UnknownMembers(WireCase):
    """Bodies whose parsing takes long: 230,000 members that a ConfigMap does not have, 2.8 MB."""

    POSTS = 4
    HEALTH_LIMIT_S = SLOWDOWN
    POST_LIMIT_S = 15 * SLOWDOWN

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.members = "".join(f',"u{i:06}":1' for i in range(230_000))

    def _post(self, server, name):
        body = f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}}{self.members}}}'
        wire = Wire(server.url)
        wire.socket.settimeout(self.POST_LIMIT_S)
        self.addCleanup(wire.close)
        fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return wire.request("POST", CONFIG_MAPS, fields, body)

    def test_health_is_answered_meanwhile(self):
        idle = [self.wire() for _ in range(8)]  # on every event loop
        began = time.monotonic()
        posts = [self._post(self.server, f"many-{i}") for i in range(self.POSTS)]
        asked = 0
        while not all(select.select([wire.socket], [], [], 0)[0] for wire in posts):
            before = time.monotonic()
            self.assertEqual(idle[asked % len(idle)].request("GET", "/healthz").reply().body, b"ok")
            self.assertLess(time.monotonic() - before, self.HEALTH_LIMIT_S)
            self.assertLess(time.monotonic() - began, self.POST_LIMIT_S)
            asked += 1
        self.assertEqual([wire.reply().code for wire in posts], [201] * self.POSTS)

    def test_the_server_ends_meanwhile(self):
        with Server(BINARY, *BARE) as server:
            for i in range(self.POSTS):
                self._post(server, f"many-{i}")
            began = time.monotonic()
            server.stop()  # demands that it exits with 0
            self.assertLess(time.monotonic() - began, 10 * SLOWDOWN)


class Received(WireCase):
    def test_requests_being_received_share_a_limit(self):
        fields = f"Content-Type: application/json\r\nContent-Length: {3 * MIB}\r\n"
        wires = []
        for _ in range(90):  # 270 MiB, and 256 are allowed
            wire = self.wire().request("POST", CONFIG_MAPS, fields)
            wire.send(b" " * (3 * MIB - 1))
            wires.append(wire)
        self.assertEqual(self.wire().request("GET", "/healthz").reply().body, b"ok")
        deadline = time.monotonic() + TIMEOUT_S
        refused = []
        while len(refused) < 5:
            self.assertLess(time.monotonic(), deadline)
            refused = [wire for wire in wires if select.select([wire.socket], [], [], 0)[0]]
        self.assertLess(len(refused), 30)
        for wire in refused:
            reply = wire.reply()
            self.assertEqual((reply.code, reply.header("retry-after")), (429, "1"))
        for wire in wires:
            wire.close()
        deadline = time.monotonic() + TIMEOUT_S
        while self.wire().request("POST", CONFIG_MAPS, fields, " " * (3 * MIB)).reply().code == 429:
            self.assertLess(time.monotonic(), deadline)


class Heads(WireCase):
    COUNT = 400
    LARGE = "a" * (MIB - 1000)
    # AddressSanitizer keeps 256 MiB of freed memory.
    LIMIT = (100 if SLOWDOWN == 1 else 370) * MIB

    def test_an_idle_connection_does_not_keep_its_head(self):
        before = self.memory()
        for _ in range(self.COUNT):
            self.assertEqual(self.wire().request("GET", "/healthz", f"Name: {self.LARGE}\r\n").reply().code, 200)
        self.assertLess(self.memory() - before, self.LIMIT)

    def test_a_watch_does_not_keep_its_query(self):
        before = self.memory()
        for _ in range(self.COUNT):
            wire = self.wire().request("GET", f"{CONFIG_MAPS}?watch=1&name={self.LARGE}")
            self.assertEqual(wire.head().code, 200)
        self.assertLess(self.memory() - before, self.LIMIT)

    def test_the_number_of_fields_is_bounded(self):
        wire = self.wire().request("GET", "/healthz", "a:b\r\n" * 1000)
        self.assertEqual(wire.reply().code, 431)


class Tokens(WireCase):
    @classmethod
    def server_flags(cls):
        tokens = cls.folder / "tokens"
        tokens.write_text("secret,admin,1\n")
        return ("--token-file", tokens)

    def test_no_body_is_read_without_a_token(self):
        reply = self.wire().request("POST", CONFIG_MAPS, f"Content-Length: {2 * MIB}\r\n").reply()
        self.assertEqual((reply.code, reply.status["reason"]), (401, "Unauthorized"))
        self.assertEqual(reply.header("connection"), "close")

    def test_the_scheme_in_any_case(self):
        for scheme in ("Bearer", "bearer", "BEARER"):
            wire = self.wire().request("GET", CONFIG_MAPS, f"Authorization: {scheme} secret\r\n")
            self.assertEqual(wire.reply().code, 200, scheme)
        for value in ("Bearer wrong", "Bearer", "Basic secret", ""):
            wire = self.wire().request("GET", CONFIG_MAPS, f"Authorization: {value}\r\n")
            self.assertEqual(wire.reply().code, 401, value)
            self.assertEqual(wire.request("GET", CONFIG_MAPS).reply().code, 401)


class Readers(WireCase):
    def test_watchers_that_do_not_read_take_little_memory(self):
        for i in range(40):
            self.create(f"large-{i}", "x" * 200_000)
        before = self.memory()
        for _ in range(100):
            self.wire(receive_buffer=4096).request("GET", CONFIG_MAPS + "?watch=1")
        self.assertEqual(self.wire().request("GET", "/healthz").reply().body, b"ok")
        # Each requested 8 MB. One piece waits; the rest is produced as the client reads.
        self.assertLess(self._settled_memory() - before, 100 * MIB)

    def test_watchers_that_resume_and_do_not_read_take_little_memory(self):
        revision = json.loads(self.wire().request("GET", CONFIG_MAPS).reply().body)["metadata"]["resourceVersion"]
        for i in range(40):
            self.create(f"replayed-{i}", "x" * 200_000)
        before = self.memory()
        cpu_before = self.cpu_seconds()
        for _ in range(100):
            self.wire(receive_buffer=4096).request("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion={revision}")
        self.assertEqual(self.wire().request("GET", "/healthz").reply().body, b"ok")
        self.assertLess(self._settled_memory() - before, 100 * MIB)
        self.assertLess(self.cpu_seconds() - cpu_before, 2 * SLOWDOWN)

    def test_lists_that_are_not_read_are_refused_past_the_limit(self):
        for i in range(40):
            self.create(f"listed-{i}", "x" * 500_000)
        before = self.memory()
        wires = [self.wire(receive_buffer=4096).request("GET", CONFIG_MAPS) for _ in range(30)]
        codes = [wire.head().code for wire in wires]
        self.assertIn(429, codes)
        self.assertEqual(set(codes), {200, 429})
        self.assertLess(self.memory() - before, 600 * MIB)
        for wire in wires:
            wire.close()
        # Their memory is freed when they are closed.
        wire = self.wire()
        deadline = time.monotonic() + TIMEOUT_S
        while wire.request("GET", CONFIG_MAPS).reply().code != 200:
            self.assertLess(time.monotonic(), deadline)

    def _settled_memory(self):
        """Memory once it no longer grows."""
        last = self.memory()
        while True:
            time.sleep(0.3)
            now = self.memory()
            if now <= last + MIB:
                return now
            last = now

    def test_a_client_that_resets_leaves_no_line_in_the_log(self):
        for _ in range(50):
            wire = Wire(self.server.url).request("GET", CONFIG_MAPS, "Connection: close\r\n")
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            wire.close()
        self.assertEqual(self.wire().request("GET", "/healthz").reply().body, b"ok")
        self.assertNotIn("FATAL", self.server.log())


class Descriptors(WireCase):
    LIMIT = 256
    CONNECTIONS = LIMIT - 64

    @classmethod
    def binary(cls):
        script = cls.folder / "limited"
        script.write_text(f'#!/bin/sh\nulimit -Sn 100; ulimit -Hn {cls.LIMIT}; exec "{BINARY}" "$@"\n')
        script.chmod(0o755)
        return script

    def test_the_limit_is_raised(self):
        text = pathlib.Path(f"/proc/{self.server.pid}/limits").read_text()
        line = next(line for line in text.splitlines() if line.startswith("Max open files"))
        self.assertEqual(line.split()[3:5], [str(self.LIMIT), str(self.LIMIT)])

    def test_more_connections_than_descriptors(self):
        wires = [self.wire() for _ in range(self.LIMIT + 100)]
        refused = len(wires) - self.CONNECTIONS
        deadline = time.monotonic() + TIMEOUT_S
        while (closed := self._closed(wires)) < refused:
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(closed, refused)
        before = self.cpu_seconds()
        time.sleep(1)
        self.assertLess(self.cpu_seconds() - before, 0.3)
        for wire in wires:
            wire.close()
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            wire = self.wire()
            try:
                if wire.request("GET", "/healthz").reply().body == b"ok":
                    break
            except (AssertionError, ConnectionError):
                self.assertLess(time.monotonic(), deadline)


    def _closed(self, wires):
        """The number of connections that the server has closed, checked for a tenth of a second."""
        poll = select.poll()
        for wire in wires:
            poll.register(wire.socket, select.POLLIN)
        return len(poll.poll(100))


class Folders(WireCase):
    EXISTED = os.path.exists("/nonexistent")

    def test_none_are_made(self):
        self.assertEqual(os.path.exists("/nonexistent"), self.EXISTED)
        # The server runs in this folder: one relative to its own would be here.
        names = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(names, ["kubeconfig", "ready.json", "server.log"])


class Tls(WireCase):
    @classmethod
    def server_flags(cls):
        cls.certificate, key = cls.folder / "cert.pem", cls.folder / "key.pem"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-keyout", key, "-out", cls.certificate, "-subj", "/CN=localhost", "-days", "1"]
        command += ["-addext", "subjectAltName=IP:127.0.0.1"]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        return ("--tls-cert", cls.certificate, "--tls-key", key)

    def test_requests_bodies_lists_and_watches(self):
        tls = trusting(self.certificate)
        wire = self.wire(tls=tls)
        for i in range(8):
            document = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": f"a{i}"}}
            body = json.dumps({**document, "data": {"a": "x" * 500_000}})
            fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            self.assertEqual(wire.request("POST", CONFIG_MAPS, fields, body).reply().code, 201)
        self.assertEqual(len(json.loads(wire.request("GET", CONFIG_MAPS).reply().body)["items"]), 8)
        wire.request("GET", CONFIG_MAPS + "?watch=1&timeoutSeconds=2&fieldSelector=metadata.name!=kube-root-ca.crt")
        self.assertEqual(len(wire.reply().body.splitlines()), 8)
        self.assertEqual(wire.request("GET", "/healthz", "Connection: close\r\n").reply().body, b"ok")
        self.assertTrue(wire.is_closed())
        self.watch_over_a_websocket(self.wire(tls=tls))

    def watch_over_a_websocket(self, wire):
        path = CONFIG_MAPS + "?watch=1&timeoutSeconds=2&fieldSelector=metadata.name=a7"
        self.assertEqual(wire.request("GET", path, websocket.fields()).head().code, 101)
        opcode, event = websocket.take(wire)
        self.assertEqual((opcode, len(json.loads(event)["object"]["data"]["a"])), (websocket.TEXT, 500_000))
        wire.send(websocket.frame(websocket.PING, b"p"))
        self.assertEqual(websocket.take(wire), (websocket.PONG, b"p"))
        self.assertEqual(websocket.take(wire)[0], websocket.CLOSE)
        self.assertTrue(wire.is_closed())
