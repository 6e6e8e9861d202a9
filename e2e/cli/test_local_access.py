"""A server without authentication accepts requests of local programs, and none of another site's pages."""

import http.client
import json
import urllib.parse

from base import TIMEOUT_S, ServeCase


class LocalAccess(ServeCase):
    def send(self, url, method, path, headers, body=None):
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_S)
        self.addCleanup(connection.close)
        connection.putrequest(method, path, skip_host=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"{}")

    def test_only_loopback_hosts(self):
        with self.server() as server:
            port = urllib.parse.urlsplit(server.url).port
            table = {f"localhost:{port}": 200, f"127.0.0.1:{port}": 200, "[::1]": 200, f"evil.example:{port}": 403}
            for host, code in table.items():
                for path in ("/api/v1/pods", "/terrarium/v1/clock", "/clusters/a/api/v1/pods"):
                    with self.subTest(f"{host}{path}"):
                        expected = 404 if code == 200 and path.startswith("/clusters") else code
                        status, body = self.send(server.url, "GET", path, {"Host": host})
                        self.assertEqual(status, expected, body)
                        if code == 403:
                            self.assertEqual((body["kind"], body["reason"]), ("Status", "Forbidden"))

    def test_no_other_sites_pages(self):
        """As a browser sends them: simple requests, for which no page has to ask first."""
        with self.server("--clock=virtual") as server:
            host = server.url.removeprefix("http://")
            rest = self.rest(server.url)
            before = rest.get("/terrarium/v1/clock").expect()["now"]
            pod = {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
            writes = {
                "/terrarium/v1/clusters": {"name": "a", "data": str(self.folder / "stolen.db")},
                "/terrarium/v1/clock/advance": {"duration": "1h"},
                "/terrarium/v1/clock/freeze": None,
                "/api/v1/namespaces/default/pods": pod,
            }
            for origin in ("http://evil.example", "null", "http://localhost:1"):
                for path, body in writes.items():
                    with self.subTest(f"{origin} {path}"):
                        headers = {"Host": host, "Origin": origin, "Content-Type": "text/plain"}
                        text = None if body is None else json.dumps(body).encode()
                        self.assertEqual(self.send(server.url, "POST", path, headers, text)[0], 403)
                headers = {"Host": host, "Origin": origin, "Access-Control-Request-Method": "DELETE"}
                self.assertEqual(self.send(server.url, "OPTIONS", "/api/v1/namespaces/default", headers)[0], 403)
            self.assertEqual(rest.get("/terrarium/v1/clock").expect()["now"], before)
            self.assertEqual(rest.get("/api/v1/pods").expect()["items"], [])
            self.assertEqual(rest.get("/terrarium/v1/clusters").expect()["clusters"], [])
            self.assertFalse((self.folder / "stolen.db").exists())

    def test_its_own_pages(self):
        with self.server("--clock=virtual") as server:
            headers = {"Host": server.url.removeprefix("http://"), "Origin": server.url, "Content-Type": "application/json"}
            path, body = "/terrarium/v1/clock/advance", b'{"duration": "1s"}'
            self.assertEqual(self.send(server.url, "POST", path, headers, body)[0], 200)

    def test_a_token_takes_the_place_of_both(self):
        (self.folder / "tokens").write_text("secret,alice,1\n")
        with self.server("--token-file", self.folder / "tokens") as server:
            headers = {"Host": "cluster.example", "Origin": "http://evil.example"}
            self.assertEqual(self.send(server.url, "GET", "/api/v1/pods", headers)[0], 401)
            headers["Authorization"] = "Bearer secret"
            self.assertEqual(self.send(server.url, "GET", "/api/v1/pods", headers)[0], 200)
