"""Watches over websockets. kube-apiserver 1.36.4 gives the same answers to the handshakes, pings and closes."""

import json

import websocket
from wire import CONFIG_MAPS, WireCase

WATCH = CONFIG_MAPS + "?watch=true&timeoutSeconds=30"
NONE = WATCH + "&labelSelector=no=object"
CLOSE = (websocket.CLOSE, websocket.NORMAL.to_bytes(2, "big"))
PROTOBUF = {"Accept": "application/vnd.kubernetes.protobuf;stream=watch"}


class Websockets(WireCase):
    def connect(self, path, changes=None, **options):
        return self.wire(**options).request("GET", path, websocket.fields(changes))

    def open(self, path=WATCH, changes=None, **options):
        """A connection whose websocket is open."""
        wire = self.connect(path, changes, **options)
        head = wire.head()
        self.assertEqual((head.code, head.header("upgrade"), head.header("connection")), (101, "websocket", "Upgrade"))
        self.assertEqual(head.header("sec-websocket-accept"), websocket.accept())
        return wire

    def assert_closed(self, wire, frame=CLOSE):
        self.assertEqual(websocket.take(wire), frame)
        self.assertTrue(wire.is_closed())

    def event(self, wire, name):
        """The next event of that object."""
        while True:
            opcode, payload = websocket.take(wire)
            self.assertEqual(opcode, websocket.TEXT)
            self.assertEqual(payload.count(b"\n"), 1)
            event = json.loads(payload)
            if event["object"]["metadata"]["name"] == name:
                return event

    def test_events_are_text_frames(self):
        self.create("before")
        wire = self.open()
        self.assertEqual(self.event(wire, "before")["type"], "ADDED")
        self.create("after", "line\nfeed")
        self.assertEqual(self.event(wire, "after")["object"]["data"], {"a": "line\nfeed"})

    def test_large_events_are_one_frame(self):
        wire = self.open()
        for size in (300, 100_000, 900_000):
            self.create(f"large-{size}", "x" * size)
            self.assertEqual(len(self.event(wire, f"large-{size}")["object"]["data"]["a"]), size)

    def test_protobuf_events_are_binary_frames(self):
        self.create("binary")
        wire = self.open(changes=PROTOBUF)
        while True:
            opcode, payload = websocket.take(wire)
            self.assertEqual((opcode, payload[:7]), (websocket.BINARY, b"\n\x05ADDED"))
            if b"binary" in payload:
                return

    def test_a_table_without_watch_parameter(self):
        self.create("in-a-table")
        path = CONFIG_MAPS.replace("/v1/", "/v1/watch/") + "?timeoutSeconds=1"
        wire = self.open(path, {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
        opcode, payload = websocket.take(wire)
        self.assertEqual((opcode, json.loads(payload)["object"]["kind"]), (websocket.TEXT, "Table"))

    def test_the_end_of_a_watch_is_a_close(self):
        self.assert_closed(self.open(CONFIG_MAPS + "?watch=1&timeoutSeconds=1&labelSelector=no=object"))

    def test_the_client_closes(self):
        for payload in (b"", b"\x03\xe9bye"):
            wire = self.open(NONE).send(websocket.frame(websocket.CLOSE, payload))
            self.assert_closed(wire)

    def test_pings_are_answered_and_messages_ignored(self):
        wire = self.open(NONE)
        for payload in (b"", b"hello", b"x" * 125):
            wire.send(websocket.frame(websocket.TEXT, b"x" * 70_000) + websocket.frame(websocket.PING, payload))
            self.assertEqual(websocket.take(wire), (websocket.PONG, payload))

    def test_a_ping_behind_the_request(self):
        head = f"GET {NONE} HTTP/1.1\r\nHost: localhost\r\n{websocket.fields()}\r\n".encode()
        wire = self.wire().send(head + websocket.frame(websocket.PING, b"early"))
        self.assertEqual(wire.head().code, 101)
        self.assertEqual(websocket.take(wire), (websocket.PONG, b"early"))

    def test_invalid_frames_close(self):
        error = (websocket.CLOSE, websocket.PROTOCOL_ERROR.to_bytes(2, "big"))
        for invalid in (
            websocket.frame(websocket.TEXT, b"x", mask=b""),
            websocket.frame(websocket.PING, b"x" * 126),
            websocket.frame(websocket.TEXT, b"x", first=0xC0),
            websocket.frame(3, b"x"),
        ):
            self.assert_closed(self.open(NONE).send(invalid), error)
        self.assert_closed(self.open(NONE).send(b"\x82\xff" + b"\x7f" * 8 + b"mask"))

    def test_the_protocol_is_echoed(self):
        wire = self.connect(NONE, {"Sec-WebSocket-Protocol": "base64.binary.k8s.io"})
        head = wire.head()
        self.assertEqual((head.code, head.header("sec-websocket-protocol")), (101, "base64.binary.k8s.io"))

    def test_handshakes_are_refused(self):
        for changes, code, body in (
            ({"Sec-WebSocket-Key": None}, 400, b"mismatch challenge/response"),
            ({"Sec-WebSocket-Version": "8"}, 400, b"missing or bad WebSocket Version"),
            ({"Sec-WebSocket-Version": None}, 400, b"missing or bad WebSocket Version"),
            ({"Sec-WebSocket-Protocol": "a, b"}, 400, b""),
            ({"Origin": None}, 403, b""),
        ):
            wire = self.connect(WATCH, changes)
            reply = wire.reply()
            self.assertEqual((reply.code, reply.body), (code, body), changes)
            self.assertTrue(wire.is_closed())

    def test_other_pages_are_refused(self):
        self.assertEqual(self.connect(WATCH, {"Origin": "http://example.test"}).reply().status["code"], 403)

    def test_errors_are_ordinary_responses(self):
        for path, code in ((WATCH + "&resourceVersion=x", 500), (CONFIG_MAPS + "x?watch=1", 404)):
            wire = self.connect(path)
            self.assertEqual(wire.reply().status["code"], code)
            self.assertEqual(wire.request("GET", "/healthz").reply().body, b"ok")

    def test_other_requests_ignore_the_upgrade(self):
        wire = self.connect(CONFIG_MAPS)
        self.assertEqual(json.loads(wire.reply().body)["kind"], "ConfigMapList")
        self.assertEqual(wire.request("GET", "/healthz").reply().body, b"ok")

    def test_a_client_that_sends_and_does_not_read_costs_no_memory(self):
        wire = self.open(receive_buffer=4096)
        for i in range(10):
            self.create(f"unread-{i}", "x" * 200_000)
        before = self.memory()
        sent = websocket.frame(websocket.BINARY, b"x" * 100_000) + websocket.frame(websocket.PING, b"y" * 125)
        for _ in range(1000):
            wire.send(sent)
        self.assertLess(self.memory() - before, 20 << 20)

    def test_a_crash_closes_without_a_frame(self):
        wire = self.open(NONE)
        wire.send(websocket.frame(websocket.PING, b"p"))
        websocket.take(wire)
        self.component("crash")
        self.assertTrue(wire.is_closed())
        self.component("start")

    def test_a_stop_of_the_apiserver_is_a_close(self):
        wire = self.open(NONE)
        self.component("stop")
        self.assert_closed(wire)
        self.component("start")

    def component(self, action):
        fields = "Content-Type: application/json\r\nContent-Length: 2\r\n"
        reply = self.wire().request("POST", f"/terrarium/v1/components/apiserver/{action}", fields, "{}").reply()
        self.assertEqual(reply.code, 200, reply.body)


class Shutdown(WireCase):
    def test_the_end_of_the_server_is_a_close(self):
        wire = self.wire().request("GET", NONE, websocket.fields())
        self.assertEqual(wire.head().code, 101)
        self.server.stop()
        self.assertEqual(websocket.take(wire), CLOSE)
        self.assertTrue(wire.is_closed())
