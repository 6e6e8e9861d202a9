"""The bound of the mixed mode on made-up events, its watches on made-up streams, and its proxy."""

import json
import socketserver
import threading
import time
import unittest
import unittest.mock
import urllib.request

import history
from history import History
from lagging_proxy import LaggingProxy
from mixed import bound_of, find_gap, violations


def deployment(replicas, surge=0, kind="MODIFIED", strategy="RollingUpdate"):
    spec = {"replicas": replicas, "strategy": {"type": strategy, "rollingUpdate": {"maxSurge": surge}}}
    return 1, "deployments", kind, {"metadata": {"name": "web"}, "spec": spec}


def pod(name, kind="ADDED", phase="Running", terminating=False):
    metadata = {"name": name, **({"deletionTimestamp": "2026-01-01T00:00:00Z"} if terminating else {})}
    return 1, "pods", kind, {"metadata": metadata, "status": {"phase": phase}}


class Bound(unittest.TestCase):
    def test_a_number_and_a_percentage_which_is_rounded_up(self):
        self.assertEqual(bound_of(deployment(4, 2)[3]), 6)
        self.assertEqual(bound_of(deployment(5, "25%")[3]), 7)
        self.assertEqual(bound_of(deployment(4, "25%")[3]), 5)

    def test_recreate_has_no_surge(self):
        self.assertEqual(bound_of(deployment(4, 2, strategy="Recreate")[3]), 4)


class Violations(unittest.TestCase):
    def test_a_creation_above_the_bound(self):
        events = [deployment(1, 1), pod("a"), pod("b"), pod("c")]
        self.assertEqual(violations(events), [(3, 3, 2)])

    def test_a_terminating_pod_counts_until_it_is_gone(self):
        events = [deployment(1), pod("a"), pod("a", "MODIFIED", terminating=True), pod("b")]
        self.assertEqual(violations(events), [(3, 2, 1)])
        events.insert(3, pod("a", "DELETED"))
        self.assertEqual(violations(events), [])

    def test_a_pod_that_has_ended_does_not_count(self):
        self.assertEqual(violations([deployment(1), pod("a"), pod("a", "MODIFIED", "Failed"), pod("b")]), [])

    def test_a_bound_that_is_lowered_makes_no_older_pod_a_violation(self):
        events = [deployment(2), pod("a"), pod("b"), deployment(1), pod("a", "MODIFIED")]
        self.assertEqual(violations(events), [])
        self.assertEqual(violations([*events, pod("c")]), [(5, 3, 1)])


class Gaps(unittest.TestCase):
    def test_nothing_was_seen(self):
        self.assertIn("no event of the Deployment", find_gap([]))
        self.assertIn("no event of the Deployment", find_gap([pod("a")]))

    def test_pods_are_missing_or_their_ends_are(self):
        self.assertIn("1 live pods", find_gap([deployment(2), pod("a")]))
        self.assertIn("3 live pods", find_gap([deployment(2), pod("a"), pod("b"), pod("c")]))
        self.assertIn("1 live pods", find_gap([deployment(2), pod("a"), pod("b"), pod("b", "MODIFIED", terminating=True)]))

    def test_everything_is_there(self):
        events = [deployment(3), pod("a"), pod("b"), pod("c"), deployment(2), pod("c", "DELETED")]
        self.assertEqual(find_gap(events), "")


def line(revision, kind="ADDED", name="a"):
    metadata = {"name": name, "namespace": "here", "resourceVersion": str(revision)}
    return json.dumps({"type": kind, "object": {"metadata": metadata}}).encode()


class FakeWatches:
    """Plays one list of lines after another; an exception in it is raised. Then the watches show nothing."""

    def __init__(self, *streams):
        self._streams, self.opened = list(streams), []

    def revision(self, _):
        return "10"

    def lines(self, _, revision):
        self.opened.append(revision)
        if not self._streams:
            raise ConnectionRefusedError("gone")
        for each in self._streams.pop(0):
            if isinstance(each, Exception):
                raise each
            yield each


@unittest.mock.patch.object(history, "PAUSE_S", 0.001)
class Following(unittest.TestCase):
    def follow(self, *streams):
        watches = FakeWatches(*streams)
        followed = History(watches, {"pods": "/api/v1/pods"})
        give_up = time.monotonic() + 10
        while not followed.failure and time.monotonic() < give_up:
            time.sleep(0.001)
        return watches, [event[0] for event in followed.of("here")], followed.failure

    def test_a_watch_that_ends_is_opened_again_from_its_last_revision(self):
        cut_off = line(13)[:20]
        watches, revisions, _ = self.follow([line(11), line(12)], [], [cut_off], [ConnectionResetError()], [line(13)])
        self.assertEqual(revisions, [11, 12, 13])
        self.assertEqual(watches.opened[:6], ["10", "12", "12", "12", "12", "13"])

    def test_a_watch_that_cannot_be_opened_is_a_failure(self):
        _, revisions, failure = self.follow([line(11)])
        self.assertEqual(revisions, [11])
        self.assertIn("gone", failure)

    def test_an_error_event_is_a_failure(self):
        expired = json.dumps({"type": "ERROR", "object": {"code": 410, "reason": "Expired"}}).encode()
        watches, _, failure = self.follow([line(11), expired], [line(12)])
        self.assertIn("Expired", failure)
        self.assertEqual(len(watches.opened), 1, "its events are lost, and opening it again would hide that")

    def test_after_closing_the_server_may_end(self):
        followed = History(FakeWatches([line(11)]), {})
        followed.close()
        followed._follow("pods", "/api/v1/pods", "10")
        self.assertEqual(followed.failure, "")


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        while self.rfile.readline().strip():
            pass
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")


class Proxy(unittest.TestCase):
    LAG_S = 0.3

    def setUp(self):
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._proxy = LaggingProxy(*self._server.server_address, "/api/v1/pods", self.LAG_S)
        self.addCleanup(self._server.server_close)
        self.addCleanup(self._server.shutdown)
        self.addCleanup(self._proxy.close)

    def get(self, path):
        """Seconds until the response."""
        begin = time.monotonic()
        with urllib.request.urlopen(f"http://127.0.0.1:{self._proxy.port}{path}", timeout=30) as response:
            self.assertEqual(response.read(), b"ok")
        return time.monotonic() - begin

    def test_only_watches_of_its_path_are_delayed_and_counted(self):
        self.get("/api/v1/pods?limit=1")
        self.get("/api/v1/nodes?watch=true")
        self.assertEqual(self._proxy.delayed_watches, 0)
        self.assertGreaterEqual(self.get("/api/v1/pods?resourceVersion=1&watch=true"), self.LAG_S)
        self.assertEqual(self._proxy.delayed_watches, 1)


if __name__ == "__main__":
    unittest.main()
