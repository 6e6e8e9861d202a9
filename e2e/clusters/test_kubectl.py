"""kubectl against a server URL with a path: every kind of request it makes works below /clusters/NAME."""

import re

from base import ClusterCase
from pods.base import pod


class Kubectl(ClusterCase):
    def test_two_clusters_with_different_gates_and_clocks_side_by_side(self):
        policy = '{"spec": {"podReplacementPolicy": "TerminationComplete"}}'
        old = self.cluster("old")
        new = self.cluster("new", clock="auto", featureGates={"DeploymentPodReplacementPolicy": True})
        for cluster in (old, new):
            cluster.k("create", "deployment", "shop", "--image=nginx", "--replicas=2")
            cluster.k("patch", "deployment", "shop", "-p", policy)
        path = "jsonpath={.spec.podReplacementPolicy}"
        self.assertEqual(old.k("get", "deployment", "shop", "-o", path), "")
        self.assertEqual(new.k("get", "deployment", "shop", "-o", path), "TerminationComplete")
        self.assertEqual(old.clock()["mode"], "virtual")
        self.assertEqual(new.clock()["mode"], "auto")
        new.k("rollout", "status", "deployment", "shop")
        old.run_until("condition=Available", "shop", "deployments")
        old.k("rollout", "status", "deployment", "shop")

    def test_what_people_type(self):
        cluster = self.cluster("daily")
        cluster.k("create", "namespace", "shop")
        cluster.k("-n", "shop", "run", "web", "--image=nginx")
        cluster.run_until("condition=Ready", "web", namespace="shop")
        self.assertIn("Running", cluster.k("-n", "shop", "get", "pods"))
        self.assertIn("Successfully assigned shop/web", cluster.k("-n", "shop", "describe", "pod", "web"))
        self.assertIn("node-0", cluster.k("get", "nodes"))
        self.assertIn("deployments", cluster.k("api-resources"))
        self.assertIn("terminationGracePeriodSeconds", cluster.k("explain", "pod.spec"))
        self.assertEqual(cluster.k("get", "--raw", "/healthz"), "ok")
        self.assertIn("Server Version", cluster.k("version"))
        self.assertIn(cluster.url, cluster.k("cluster-info"))
        cluster.k("-n", "shop", "label", "pod", "web", "a=b")
        cluster.k("-n", "shop", "delete", "pod", "web", "--wait=false")
        cluster.run_until("delete", "web", namespace="shop")
        self.assertEqual(cluster.k("-n", "shop", "get", "pods", "-o", "name"), "")

    def test_watches_see_their_own_cluster_only(self):
        one, two = self.cluster("one"), self.cluster("two")
        watches = {}
        for cluster in (one, two):
            watches[cluster.name] = cluster.start("get", "configmaps", "-w", "-o", "name")
            self.addCleanup(watches[cluster.name].kill)
            self.wait_until("kubectl watches", lambda: self.watchers_of(cluster) > 0)
        for cluster in (one, two):
            cluster.k("create", "configmap", f"of-{cluster.name}")
        for name, watch in watches.items():
            # The first line: nothing of the other cluster came before it.
            self.assertEqual(watch.line_with("configmap/of-"), f"configmap/of-{name}")
        for watch in watches.values():
            self.assertFalse(watch.has_printed())

    def watchers_of(self, cluster):
        text = cluster.rest.get("/metrics").text
        series = [line for line in text.splitlines() if line.startswith("apiserver_longrunning_requests{")]
        return sum(int(line.split()[-1]) for line in series if 'verb="WATCH"' in line)

    def test_a_deleted_cluster_ends_a_watch_and_is_no_more(self):
        cluster = self.cluster("short")
        watch = cluster.start("get", "pods", "-w")
        self.addCleanup(watch.kill)
        self.wait_until("kubectl watches", lambda: self.watchers_of(cluster) > 0)
        self.delete(cluster)
        watch.end()
        self.k_fails(f"get pods --server={cluster.url}")


class Time(ClusterCase):
    def test_advancing_one_moves_no_other(self):
        one, two = self.cluster("one"), self.cluster("two")
        for cluster in (one, two):
            cluster.make(pod("web", script={"run-for": "10m"}, restartPolicy="Never"))
            cluster.run_until("condition=Ready", "web")
        stands = [self.clock()["now"], two.clock()["now"]]
        one.advance("11m")
        self.assertEqual([self.clock()["now"], two.clock()["now"]], stands)
        phase = "jsonpath={.status.phase}"
        self.assertEqual(one.k("get", "pod", "web", "-o", phase), "Succeeded")
        self.assertEqual(two.k("get", "pod", "web", "-o", phase), "Running")
