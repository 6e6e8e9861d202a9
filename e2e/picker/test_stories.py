"""The user stories of KEP-3189, each with its picker of docs/examples/pod-picker."""

import contextlib
import http.server
import json
import sqlite3
import threading
import time

from base import PickerCase
from lib.rest import Rest


class AirflowWorkers(PickerCase):
    """Story 1: workers with the fewest tasks are deleted, and long-running tasks count more."""

    def run_task(self, hostname, minutes_ago=0.0, state="running"):
        with contextlib.closing(sqlite3.connect(self.folder / "airflow.db")) as database, database:
            row = (f"task-{time.monotonic_ns()}", hostname, state, time.time() - 60 * minutes_ago)
            database.execute("INSERT INTO task_instance VALUES (?, ?, ?, ?)", row)

    def test_the_least_active_workers_go(self):
        self.start_example("airflow-workers.py")
        a, b, c, d = self.pod_names()
        self.run_task(a)
        self.run_task(a)
        self.run_task(b, minutes_ago=30.5)  # one task, which would cost half an hour
        self.run_task(c)
        self.run_task(d, minutes_ago=600, state="success")
        self.scale("airflow-worker", 3)
        self.idle()
        self.assertEqual(self.pod_names(), [a, b, c])
        self.scale("airflow-worker", 1)
        self.idle()
        self.assertEqual(self.pod_names(), [b])


class GameShards(PickerCase):
    """Story 2: shards with the fewest players are deleted, and paying players count more."""

    def test_the_fewest_players_are_thrown_out(self):
        port = self.start_example("game-shards.mjs")
        a, b, c, d, e = self.pod_names()
        rest = Rest(f"http://127.0.0.1:{port}")
        self.addCleanup(rest.close)
        for shard, players, premium in [(a, 5, 0), (b, 2, 2), (c, 0, 0), (d, 4, 0), (e, 9, 1)]:
            rest.put(f"/shards/{shard}", {"players": players, "premium": premium}).expect()
        self.scale("game-shard", 3)
        self.idle()
        self.assertEqual(self.pod_names(), [a, b, e])
        rest.put(f"/shards/{a}", {"players": 7}).expect()  # more players, but two paying ones count as six
        self.scale("game-shard", 2)
        self.idle()
        self.assertEqual(self.pod_names(), [a, e])


class SparkWorkers(PickerCase):
    """Story 3: workers with the fewest tasks are deleted, as reported by the master."""

    def master(self, workers):
        """The /json/ page of a Spark master."""

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps({"workers": workers}).encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()

        def stop():
            server.shutdown()
            thread.join()
            server.server_close()

        self.addCleanup(stop)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def test_the_fewest_tasks_are_lost(self):
        workers = []
        self.start_example("spark-workers.py", "--master", self.master(workers))
        a, b, c, d = self.pod_names()
        workers += [
            {"host": a, "state": "ALIVE", "coresused": 1},
            {"host": b, "state": "ALIVE", "coresused": 4},
            {"host": c, "state": "DEAD", "coresused": 8},
            {"host": d, "state": "ALIVE", "coresused": 2},
        ]
        self.scale("spark-worker", 2)
        self.idle()
        self.assertEqual(self.pod_names(), [b, d])

    def test_a_master_that_is_away_means_no_choice(self):
        self.start_example("spark-workers.py", "--master", "http://127.0.0.1:1")
        self.scale("spark-worker", 2)
        self.idle()
        self.assertEqual(len(self.pod_names()), 2)
        self.assertEqual(len(self.picker_events()), 1)


class RegionalSpread(PickerCase):
    """Story 4: the remaining pods are spread over the regions, whatever their load."""

    flags = (*PickerCase.flags, "--nodes=3")

    def setUp(self):
        super().setUp()
        for node, region in {"node-0": "north", "node-1": "north", "node-2": "south"}.items():
            self.rest.patch(
                f"/api/v1/nodes/{node}", {"metadata": {"labels": {"topology.kubernetes.io/region": region}}}
            ).expect()

    def in_regions(self):
        region = {"node-0": "north", "node-1": "north", "node-2": "south"}
        found = {"north": [], "south": []}
        for item in self.pods():
            found[region[item["spec"]["nodeName"]]].append(item["metadata"]["name"])
        return found

    def sizes(self):
        return {region: len(pods) for region, pods in self.in_regions().items()}

    def test_the_regions_stay_even(self):
        self.start_example("regional-spread.mjs")
        before = self.sizes()
        self.assertGreater(before["north"], before["south"])  # two of the three nodes
        busy, *others = self.in_regions()["north"]
        for name in others:
            self.k(["annotate", "pod", name, "example.com/active-requests=1"])
        self.k(["annotate", "pod", busy, "example.com/active-requests=50"])
        self.scale("website", 4)
        self.idle()
        # From the larger region, although the pods of the smaller one are idle.
        self.assertEqual(self.sizes(), {"north": before["north"] - 2, "south": before["south"]})
        self.scale("website", 2)
        self.idle()
        self.assertEqual(self.sizes(), {"north": 1, "south": 1})
        self.assertEqual(self.in_regions()["north"], [busy])

    def test_the_regions_stay_even_when_an_autoscaler_decides(self):
        self.start_example("regional-spread.mjs")
        self.assertGreater(len(self.pods()), 2)
        target = {"type": "AverageValue", "averageValue": "10m"}  # idle pods use 1m
        autoscaler = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "website"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "website"},
                "minReplicas": 2,
                "maxReplicas": 6,
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            },
        }
        self.k("create -f -", stdin=autoscaler)
        self.idle()
        self.assertEqual(self.sizes(), {"north": 1, "south": 1})
