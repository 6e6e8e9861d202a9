"""kube-state-metrics with its default resources: it lists and watches each once, and its series are the server's own."""

import contextlib
import os
import re
import time
import unittest
import urllib.request

import objects
import program
from lib.rest import Rest
from lib.server import SLOWDOWN, Server, binary_from_environment

TIMEOUT_S = 60 * SLOWDOWN
NODES = 3
NAMESPACE = "observed"
DEFAULT_RESOURCES = 32  # of kube-state-metrics 2.20
ADDRESS = re.compile(r'"Listening on" address="([^"]*)"')
SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# Of KEP-3973: kube-state-metrics has it under another name.
ONLY_OF_THE_SERVER = {"kube_deployment_status_replicas_terminating"}


def samples(page):
    """{(family, labels): value}"""
    found = (SAMPLE.fullmatch(line) for line in page.splitlines() if line and not line.startswith("#"))
    return {(one[1], tuple(sorted(LABEL.findall(one[2] or "")))): float(one[3]) for one in found}


def families(series):
    return {name for name, _ in series}


def texts(page, names):
    """The HELP and TYPE lines of the families in `names`."""
    return sorted(line for line in page.splitlines() if line.startswith("# ") and line.split()[2] in names)


class KubeStateMetrics(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        server = stack.enter_context(Server(binary_from_environment(), f"--nodes={NODES}", "--log-level=error"))
        cls.rest = Rest(server.url)
        stack.callback(cls.rest.close)
        cls.rest.post("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}).expect()
        cls.create("/api/v1/namespaces/{namespace}/services", objects.service("web"))
        cls.create(objects.DEPLOYMENTS, objects.deployment("web", 3))
        cls.create(objects.STATEFUL_SETS, objects.stateful_set("store", 1))
        cls.create(objects.DAEMON_SETS, objects.daemon_set("agent"))
        cls.create(objects.CRON_JOBS, objects.cron_job("tick", "0 0 1 1 *"))
        cls.tool = stack.enter_context(
            program.Program(os.environ["KUBE_STATE_METRICS"], f"--kubeconfig={server.kubeconfig}", "--host=127.0.0.1",
                            "--port=0", "--telemetry-host=127.0.0.1", "--telemetry-port=0")
        )
        cls.await_that("kube-state-metrics listens", lambda: len(ADDRESS.findall(cls.tool.log())) == 2)
        cls.await_that("all informers have their objects",
                       lambda: len(program.informers(cls.tool.log())) == DEFAULT_RESOURCES
                       and not program.unsynced(cls.tool.log()))

    def tearDown(self):
        """Whatever a test does, nothing is retried meanwhile, and nothing is complained of."""
        log = self.tool.log()
        self.assertTrue(self.tool.is_running())
        self.assertEqual(program.problems(log), [])
        self.assertEqual((program.unsynced(log), program.repeated(log)), ([], []))

    @classmethod
    def create(cls, path, item):
        return cls.rest.post(path.format(namespace=NAMESPACE), item).expect()

    @classmethod
    def await_that(cls, what, is_so):
        give_up = time.monotonic() + TIMEOUT_S
        while not is_so():
            if not cls.tool.is_running() or time.monotonic() > give_up:
                raise AssertionError(f"not in time: {what}\n{cls.tool.log()[-6000:]}")
            time.sleep(0.05)

    def page(self):
        """Its metrics about the cluster and those about itself, which are on another port."""
        pages = []
        for address in ADDRESS.findall(self.tool.log()):
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=TIMEOUT_S) as response:
                pages.append(response.read().decode())
        return "".join(pages)

    def own_page(self):
        answer = self.rest.request("GET", "/metrics", headers={"Accept": "text/plain"})
        self.assertEqual(answer.code, 200)
        return answer.text

    def test_every_default_resource_is_watched_and_no_request_fails(self):
        series = samples(self.page())
        watches = {dict(labels)["resource"]: (dict(labels)["result"], value)
                   for (name, labels), value in series.items() if name == "kube_state_metrics_watch_total"}
        self.assertEqual(len(watches), DEFAULT_RESOURCES)
        self.assertEqual(set(watches.values()), {("success", 1)})
        failed = [key for key in series if key[0] == "kube_state_metrics_list_total" and ("result", "error") in key[1]]
        self.assertEqual(failed, [])

    def test_its_series_of_the_workloads_are_those_of_the_server(self):
        def of_workloads(page, names):
            return {key: value for key, value in samples(page).items() if key[0] in names}

        def both():
            mine, its = self.own_page(), self.page()
            names = {name for name in families(samples(mine)) if name.startswith("kube_")} - ONLY_OF_THE_SERVER
            return of_workloads(mine, names), of_workloads(its, names), texts(mine, names), texts(its, names)

        def are_equal():
            mine, its, *_ = both()
            return mine == its

        with contextlib.suppress(AssertionError):  # the comparison below shows the difference
            self.await_that("the same series", are_equal)
        mine, its, my_texts, its_texts = both()
        self.assertEqual(its, mine)
        self.assertEqual(its_texts, my_texts)
        self.assertLessEqual({"kube_deployment_status_replicas_available", "kube_daemonset_status_number_ready",
                              "kube_statefulset_status_replicas", "kube_replicaset_owner"}, families(mine))

    def test_a_change_reaches_its_series(self):
        def running(app):
            series = samples(self.page())
            return sum(value for (name, labels), value in series.items() if name == "kube_pod_status_phase"
                       and ("phase", "Running") in labels and dict(labels)["pod"].startswith(f"{app}-"))

        path = objects.DEPLOYMENTS.format(namespace=NAMESPACE) + "/changing"
        self.create(objects.DEPLOYMENTS, objects.deployment("changing", 3))
        self.await_that("three pods run", lambda: running("changing") == 3)
        self.rest.patch(path, {"spec": {"replicas": 1}}).expect()
        self.await_that("one pod is left", lambda: running("changing") == 1)
        self.rest.delete(path).expect()
        self.await_that("the Deployment's series are gone",
                        lambda: not any(("deployment", "changing") in labels for _, labels in samples(self.page())))


if __name__ == "__main__":
    unittest.main()
