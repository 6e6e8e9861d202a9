"""Clusters that are created and deleted: under load, in parallel, with files, while the server stops."""

import concurrent.futures
import contextlib
import http.client
import pathlib
import tempfile
import threading
import time

from base import Cluster, ClusterCase, resident_kib, threads_of
from lib.rest import Rest
from lib.server import SLOWDOWN, Server, binary_from_environment
from pods.base import pod

SCRIPTED = {"metadata": {"generateName": "web-"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


class Life(ClusterCase):
    def test_a_cluster_is_deleted_under_load(self):
        cluster = self.cluster("busy")
        over = threading.Event()
        codes = set()

        def write():
            rest = Rest(cluster.url)
            while not over.is_set():
                codes.add(rest.post("/api/v1/namespaces/default/pods", SCRIPTED).code)
                codes.add(rest.get("/api/v1/pods").code)
            rest.close()

        def move():
            rest = Rest(cluster.url)
            while not over.is_set():
                codes.add(rest.post("/terrarium/v1/clock/advance", {"duration": "30s"}).code)
            rest.close()

        def follow():
            rest = Rest(cluster.url)
            response = rest.stream("GET", "/api/v1/pods?watch=true")
            with contextlib.suppress(http.client.HTTPException):
                while response.readline():
                    pass
            codes.add(response.status)
            rest.close()

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            running = [pool.submit(work) for work in (write, write, move, follow, follow)]
            self.wait_until("there is load", lambda: len(cluster.pods()) > 50)
            self.delete(cluster)
            over.set()
            for future in running:
                future.result(30)
        # Answers from before, from the end of the store, and from after.
        self.assertLessEqual(codes, {200, 201, 404, 500}, codes)
        self.assertNotIn("busy", self.names())

    def test_a_watcher_that_does_not_read_holds_nothing_up(self):
        cluster = self.cluster("stalled")
        stalled = Rest(cluster.url)
        self.addCleanup(stalled.close)
        stalled.stream("GET", "/api/v1/configmaps?watch=true")
        data = {"blob": "x" * 500_000}
        for number in range(40):
            cluster.make({"metadata": {"name": f"blob-{number}"}, "data": data}, "/api/v1/namespaces/default/configmaps")
        began = time.monotonic()
        self.delete(cluster)
        self.assertLess(time.monotonic() - began, 10)

    def test_many_are_made_and_deleted_and_nothing_is_left(self):
        def round_trip(count):
            for _ in range(count):
                cluster = self.control("POST", "/clusters", {}).expect()
                rest = Rest(cluster["url"])
                rest.post("/api/v1/namespaces/default/pods", SCRIPTED).expect()
                rest.post("/terrarium/v1/clock/run-until-idle", None).expect()
                rest.close()
                self.control("DELETE", f"/clusters/{cluster['name']}").expect()

        round_trip(50)
        threads, memory = threads_of(self.pid), resident_kib(self.pid)
        round_trip(150)
        self.assertLessEqual(threads_of(self.pid), threads + 2)
        # 150 clusters that are not freed would keep a hundred times as much.
        # A sanitizer keeps freed memory for a while, to notice uses of it.
        limit_mib = 8 if SLOWDOWN == 1 else 300
        self.assertLess(resident_kib(self.pid) - memory, limit_mib * 1024)

    def test_idle_clusters_cost_no_threads(self):
        self.cluster()
        before = threads_of(self.pid)
        for clock in ("virtual", "auto", "real") * 20:
            self.cluster(clock=clock)
        self.assertLessEqual(threads_of(self.pid), before + 4)

    def test_many_are_used_in_parallel(self):
        def story(number):
            rest = Rest(self.url)
            name = f"parallel-{number}"
            made = rest.post("/terrarium/v1/clusters", {"name": name}).expect()
            rest.close()
            cluster = Cluster(made, self.home, self.environment)
            cluster.make(pod("web", script={"start-delay": f"{number + 1}s"}))
            advanced = cluster.run_until("condition=Ready", "web")["advanced"]
            cluster.advance("1h")
            cluster.rest.close()
            rest = Rest(self.url)
            rest.delete(f"/terrarium/v1/clusters/{name}").expect()
            rest.close()
            return advanced

        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            self.assertEqual(list(pool.map(story, range(40))), [f"{number + 1}s" for number in range(40)])
        self.assertEqual(self.names(), [])


class Files(ClusterCase):
    @classmethod
    def server(cls):
        folder = tempfile.TemporaryDirectory(prefix="terrarium-clusters-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name) / "data"
        cls.folder.mkdir()
        cls.flags = (*ClusterCase.flags, f"--cluster-data-dir={cls.folder}")
        return super().server()

    def test_a_file_outlives_its_cluster(self):
        first = self.cluster("first", data="shop.db")
        first.make(pod("web"))
        first.run_until("condition=Ready", "web")
        self.assertTrue((self.folder / "shop.db").exists())
        refused = self.control("POST", "/clusters", {"data": "shop.db"})
        self.assertEqual(refused.code, 400, "two clusters in one file")
        self.delete(first)
        second = self.cluster("second", data="shop.db")
        self.assertEqual(second.pods(), ["web"])

    def test_no_file_outside_of_the_folder(self):
        outside = self.folder.parent / "outside.db"
        (self.folder / "link.db").symlink_to(outside)
        for name in (str(outside), "../outside.db", "link.db", f"file:{outside}", ""):
            with self.subTest(name):
                answer = self.control("POST", "/clusters", {"name": "x", "data": name})
                self.assertEqual(answer.code, 200 if name == "" else 400, answer.text)
                self.assertFalse(outside.exists())
        self.control("DELETE", "/clusters/x").expect()
        uri = self.cluster("uri", data="file:uri.db?mode=memory")
        self.assertTrue((self.folder / "file:uri.db?mode=memory").is_file())
        self.delete(uri)


class TheEnd(ClusterCase):
    def test_a_server_ends_well_with_clusters_in_it(self):
        with Server(binary_from_environment(), *self.flags) as server:
            rest = Rest(server.url)
            self.addCleanup(rest.close)
            watches = []
            for number, clock in enumerate(("virtual", "auto", "real", "scaled=100")):
                made = rest.post("/terrarium/v1/clusters", {"clock": clock}).expect()
                cluster = Cluster(made, self.home, self.environment)
                self.addCleanup(cluster.rest.close)
                cluster.make(pod(f"web-{number}"))
                watch = Rest(cluster.url)
                self.addCleanup(watch.close)
                watches.append(watch.stream("GET", "/api/v1/pods?watch=true"))
            server.stop()  # which requires exit code 0
            for watch in watches:
                while watch.readline():
                    pass
