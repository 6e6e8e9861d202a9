"""Requests as bytes: framing, refusals, and the order of responses."""

import json

from wire import CONFIG_MAPS, WireCase

REFUSED = {
    "length and chunks": ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    "two lengths": ("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"),
    "a length with a sign": ("Content-Length: +5\r\n", "hello"),
    "a length that is a list": ("Content-Length: 5, 5\r\n", "hello"),
    "a chunk's size that is none": ("Transfer-Encoding: chunked\r\n", "zz\r\nhello\r\n0\r\n\r\n"),
    "a chunk's size with a sign": ("Transfer-Encoding: chunked\r\n", "+5\r\nhello\r\n0\r\n\r\n"),
    "a chunk longer than its size": ("Transfer-Encoding: chunked\r\n", "5\r\nhello!\r\n0\r\n\r\n"),
    "a second host": ("Host: other\r\n", ""),
    "a space before the colon": ("Accept : a\r\n", ""),
    "a control character": ("Accept: \x01\r\n", ""),
}


class Framing(WireCase):
    def test_what_two_readers_could_read_differently_is_refused(self):
        for name, (fields, body) in REFUSED.items():
            with self.subTest(name):
                wire = self.wire().request("POST", CONFIG_MAPS, fields, body)
                reply = wire.reply()
                self.assertEqual((reply.code, reply.header("connection")), (400, "close"), reply.body)
                self.assertEqual(reply.status["reason"], "BadRequest")
                self.assertTrue(wire.is_closed())

    def test_a_host_is_required(self):
        reply = self.wire().send("GET /healthz HTTP/1.1\r\n\r\n").reply()
        self.assertEqual(reply.code, 400)
        self.assertIn("Host", reply.status["message"])
        self.assertEqual(self.wire().send("GET /healthz HTTP/1.0\r\n\r\n").reply().code, 200)

    def test_other_versions_and_encodings(self):
        self.assertEqual(self.wire().send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").reply().code, 505)
        reply = self.wire().request("POST", CONFIG_MAPS, "Transfer-Encoding: gzip, chunked\r\n").reply()
        self.assertEqual(reply.code, 501)

    def test_chunked_in_any_case(self):
        for i, encoding in enumerate(("chunked", "Chunked", "CHUNKED")):
            body = json.dumps({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": f"chunked-{i}"}})
            chunks = f"a;x=y\r\n{body[:10]}\r\n{len(body) - 10:X}\r\n{body[10:]}\r\n0\r\nTrailer: x\r\n\r\n"
            fields = f"Content-Type: application/json\r\nTransfer-Encoding: {encoding}\r\n"
            wire = self.wire().request("POST", CONFIG_MAPS, fields, chunks)
            self.assertEqual(wire.reply().code, 201, encoding)
            self.assertEqual(wire.request("GET", "/healthz").reply().body, b"ok")

    def test_a_head_that_is_too_large(self):
        wire = self.wire().send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        try:
            for _ in range(40):
                wire.send("Name: " + "a" * 32768 + "\r\n")
        except ConnectionError:
            pass  # it has been refused already
        self.assertEqual(wire.reply().code, 431)

    def test_a_long_query_is_read(self):
        value = "a" * 200_000
        self.assertEqual(self.wire().request("GET", f"/healthz?x={value}").reply().body, b"ok")

    def test_paths_are_decoded(self):
        self.assertEqual(self.wire().request("GET", "/api/v1/namespaces/def%61ult").reply().code, 200)
        reply = self.wire().request("GET", "/api/v1/namespaces/a+b").reply()
        self.assertIn('"a+b" not found', reply.status["message"])
        self.assertEqual(self.wire().request("GET", "/api/%zz").reply().code, 400)


class KeepAlive(WireCase):
    def test_pipelined_requests_are_answered_in_order(self):
        wire = self.wire()
        body = json.dumps({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "piped"}})
        fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        wire.send(
            f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n{body}"
            f"GET {CONFIG_MAPS}/piped HTTP/1.1\r\nHost: localhost\r\n\r\n"
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        self.assertEqual(wire.reply().code, 201)
        self.assertEqual(json.loads(wire.reply().body)["metadata"]["name"], "piped")
        self.assertEqual(wire.reply().body, b"ok")
        self.assertIn(b"gitVersion", wire.reply().body)

    def test_a_large_body_keeps_its_place(self):
        """Parsed outside of the event loop, it is still answered before later requests."""
        data = "x" * 1_000_000
        body = json.dumps({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "large"}, "data": {"a": data}})
        fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        wire = self.wire().request("POST", CONFIG_MAPS, fields, body + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(wire.reply().code, 201)
        self.assertEqual(wire.reply().body, b"ok")

    def test_old_clients(self):
        wire = self.wire().send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        reply = wire.reply()
        self.assertEqual((reply.version, reply.header("connection")), ("HTTP/1.0", "keep-alive"))
        wire.send("GET /healthz HTTP/1.0\r\n\r\n")
        self.assertEqual(wire.reply().header("connection"), "close")
        self.assertTrue(wire.is_closed())

    def test_head_has_no_body(self):
        wire = self.wire().request("HEAD", "/version")
        reply = wire.reply(to="HEAD")
        self.assertGreater(int(reply.header("content-length")), 10)
        self.assertEqual(wire.request("GET", "/healthz").reply().body, b"ok")

    def test_expect_continue(self):
        fields = "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
        wire = self.wire().request("POST", CONFIG_MAPS, fields)
        self.assertEqual(wire.head().code, 100)
        self.assertEqual(wire.send("{}").reply().code, 422)

    def test_an_upgrade_is_ignored(self):
        fields = "Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
        wire = self.wire().request("GET", CONFIG_MAPS + "?watch=1&timeoutSeconds=1", fields)
        reply = wire.reply()
        self.assertEqual((reply.code, reply.header("upgrade")), (200, None))
        self.assertEqual(wire.request("GET", "/healthz").reply().body, b"ok")


class Warnings(WireCase):
    def _warnings(self, name, fields):
        body = json.dumps({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}, **fields})
        head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        reply = self.wire().request("POST", CONFIG_MAPS, head, body).reply()
        self.assertEqual(reply.code, 201)
        self.assertIsNone(reply.header("set-cookie"))
        return [value for name, value in reply.headers if name.lower() == "warning"]

    def test_their_number_and_length_are_bounded(self):
        warnings = self._warnings("many", {f"unknown-{i}-" + "k" * 1000: 1 for i in range(30)})
        self.assertEqual(len(warnings), 16)
        self.assertLessEqual(max(map(len, warnings)), 256 + len('299 - ""') + 4)

    def test_they_stay_inside_their_header(self):
        warnings = self._warnings("split", {"line\r\nSet-Cookie: a=b": 1})
        self.assertEqual(warnings, [r'299 - "unknown field \"line\\r\\nSet-Cookie: a=b\""'])
