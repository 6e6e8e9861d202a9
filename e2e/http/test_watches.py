"""Watches for every kind of HTTP client."""

import json
import urllib.request

from wire import CONFIG_MAPS, WireCase

WATCH = CONFIG_MAPS + "?watch=1&timeoutSeconds=30"


class Watches(WireCase):
    def test_with_connection_close(self):
        self.create("seen-by-close")
        wire = self.wire().request("GET", CONFIG_MAPS + "?watch=1&timeoutSeconds=1", "Connection: close\r\n")
        reply = wire.reply()
        self.assertEqual((reply.header("transfer-encoding"), reply.header("connection")), ("chunked", "close"))
        self.assertIn("seen-by-close", reply.body.decode())
        self.assertTrue(wire.is_closed())

    def test_events_arrive_one_by_one(self):
        wire = self.wire().request("GET", WATCH, "Connection: close\r\n")
        wire.head()
        self.create("later-close")
        while b"later-close" not in wire.chunk():
            pass

    def test_with_http_1_0(self):
        wire = self.wire().send(f"GET {WATCH} HTTP/1.0\r\n\r\n")
        head = wire.head()
        self.assertEqual((head.version, head.header("transfer-encoding")), ("HTTP/1.0", None))
        self.create("later-old")
        while True:
            event = json.loads(wire.until(b"\n"))
            if event["object"]["metadata"]["name"] == "later-old":
                break

    def test_http_1_0_ends_with_the_connection(self):
        wire = self.wire().send(f"GET {CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion=1 HTTP/1.0\r\n\r\n")
        wire.head()
        while wire._more():
            pass
        for line in wire.rest.splitlines():
            json.loads(line)

    def test_with_urllib(self):
        self.create("for-urllib")
        with urllib.request.urlopen(self.server.url + WATCH, timeout=20) as response:
            while "for-urllib" not in response.readline().decode():
                pass

    def test_the_connection_can_be_used_again(self):
        wire = self.wire().request("GET", CONFIG_MAPS + "?watch=1&timeoutSeconds=1")
        self.assertEqual(wire.reply().code, 200)
        self.assertEqual(wire.request("GET", "/healthz").reply().body, b"ok")
