"""Components that are stopped, crashed, restarted and given other gates over HTTP, as seen by clients."""

import http.client
import json
import pathlib
import tempfile

from base import ControlPlaneCase, pod
from lib.rest import Rest
from lib.server import Server, binary_from_environment

COMPONENTS = ("apiserver", "controller-manager", "kubelet", "scheduler")
GATES = ("DeploymentPodReplacementPolicy", "DeploymentReplicaSetTerminatingReplicas")
BOTH_ON = "--feature-gates=" + ",".join(f"{gate}=true" for gate in GATES)
BOTH_OFF = "--feature-gates=" + ",".join(f"{gate}=false" for gate in GATES)


def deployment(name, replicas=2, **spec):
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "image": "example.test/app:1"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template, **spec},
    }


class ComponentCase(ControlPlaneCase):
    def component(self, name, verb):
        return self.control("POST", f"/components/{name}/{verb}").expect()

    def set_gates(self, name, on, *gates):
        return self.control("PUT", f"/components/{name}/feature-gates", {gate: on for gate in gates or GATES}).expect()

    def run_until_idle(self):
        answer = self.control("POST", "/clock/run-until-idle", {"limit": "1h"}).expect()
        self.assertEqual(answer["outcome"], "idle", answer)

    def apps(self, name=""):
        return f"/apis/apps/v1/namespaces/{self.ns}/deployments" + (f"/{name}" if name else "")

    def deploy(self, name, **spec):
        return self.rest.post(self.apps(), deployment(name, **spec)).expect()

    def deployed(self, name):
        return self.rest.get(self.apps(name)).expect()

    def metric(self, line):
        """The value of one line of /metrics, or None when it is not there."""
        for each in self.rest.get("/metrics").text.splitlines():
            if each.startswith(line + " "):
                return float(each.split()[-1])
        return None


class Verbs(ComponentCase):
    flags = ("--clock=virtual", BOTH_ON)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.everything_runs)

    def everything_runs(self):
        for info in self.control("GET", "/components").expect()["components"]:
            if info["state"] != "running":
                self.component(info["name"], "start")

    def test_each_can_be_stopped_started_restarted_and_crashed(self):
        for name in COMPONENTS:
            with self.subTest(name):
                before = self.control("GET", f"/components/{name}").expect()["restarts"]
                self.assertEqual(self.component(name, "stop")["state"], "stopped")
                self.assertEqual(self.control("POST", f"/components/{name}/stop").code, 409)
                started = self.component(name, "start")
                self.assertEqual((started["state"], started["synced"]), ("running", True))
                self.assertEqual(self.control("POST", f"/components/{name}/start").code, 409)
                self.assertEqual(self.component(name, "crash")["state"], "stopped")
                self.component(name, "start")
                self.assertEqual(self.component(name, "restart")["restarts"], before + 3)

    def test_the_controller_manager_takes_up_what_it_missed(self):
        self.component("controller-manager", "crash")
        self.deploy("web")
        self.advance("1m")
        self.assertNotIn("replicas", self.deployed("web").get("status", {}))
        self.component("controller-manager", "start")
        self.run_until("condition=Available", "web", resource="deployments")

    def test_a_kubelet_that_was_away_changes_nothing_of_a_running_pod(self):
        self.running(pod("web"))
        before = self.stored("web")
        self.component("kubelet", "crash")
        self.assertEqual(self.control("GET", "/pods/rules").code, 409)
        self.advance("20s")
        self.component("kubelet", "start")
        self.advance("20s")
        self.assertEqual(self.stored("web"), before)


class Gates(ComponentCase):
    flags = ("--clock=virtual", BOTH_ON)

    def feature(self, component, gate="DeploymentPodReplacementPolicy", stage="ALPHA"):
        return self.metric(f'kubernetes_feature_enabled{{component="{component}",name="{gate}",stage="{stage}"}}')

    def test_they_are_refused_in_words(self):
        for body, words in (
            ({"Nonsense": True}, "Nonsense"),
            ({GATES[0]: "yes"}, "true or false"),
            ({}, "name the gates"),
            ({GATES[1]: False}, GATES[0]),
        ):
            answer = self.control("PUT", "/components/kubelet/feature-gates", body)
            self.assertEqual(answer.code, 400, answer.text)
            self.assertIn(words, answer.body["message"])

    def test_metrics_follow_them(self):
        self.assertEqual([self.feature(name) for name in COMPONENTS], [1, 1, 1, 1])
        self.set_gates("kubelet", False, GATES[0])
        self.assertEqual([self.feature(name) for name in COMPONENTS], [1, 1, 0, 1])
        self.component("kubelet", "stop")
        self.assertEqual([self.feature(name) for name in COMPONENTS], [1, 1, None, 1])
        self.component("kubelet", "start")
        self.set_gates("kubelet", True, GATES[0])

    def test_off_and_on_again_is_reported(self):
        self.deploy("web", podReplacementPolicy="TerminationComplete")
        self.run_until_idle()
        self.assertEqual(self.deployed("web")["status"]["terminatingReplicas"], 0)
        for name in ("apiserver", "controller-manager"):
            self.set_gates(name, False)
        self.run_until_idle()
        status = self.deployed("web")["status"]
        self.assertNotIn("terminatingReplicas", status)
        self.rest.patch(self.apps("web"), {"spec": {"replicas": 3}}).expect()
        self.deploy("other", podReplacementPolicy="TerminationStarted")
        self.run_until_idle()
        self.assertEqual(self.deployed("web")["spec"]["podReplacementPolicy"], "TerminationComplete")
        self.assertNotIn("podReplacementPolicy", self.deployed("other")["spec"])
        for name in ("apiserver", "controller-manager"):
            self.set_gates(name, True)
        self.run_until_idle()
        self.assertEqual(self.deployed("web")["status"]["terminatingReplicas"], 0)

        report = self.control("GET", "/gates/report").expect()
        changes = [(change["component"], change["to"][GATES[0]]) for change in report["changes"]]
        self.assertEqual(
            changes[-4:],
            [("apiserver", False), ("controller-manager", False), ("apiserver", True), ("controller-manager", True)],
        )
        query = f"resource=deployments&namespace={self.ns}&name="
        told = self.control("GET", f"/gates/report?{query}web").expect()["fields"]
        self.assertEqual(
            [(field["what"], field["field"]) for field in told],
            [
                ("vanished", "status.terminatingReplicas"),
                ("kept", "spec.podReplacementPolicy"),
                ("came-back", "status.terminatingReplicas"),
            ],
        )
        revisions = [field["revision"] for field in told]
        self.assertEqual(revisions, sorted(revisions))
        told = self.control("GET", f"/gates/report?{query}other").expect()["fields"]
        self.assertEqual(
            [(field["what"], field["field"]) for field in told], [("dropped", "spec.podReplacementPolicy")]
        )


class ApiServerRestart(ComponentCase):
    def watch(self, revision):
        rest = Rest(self.url)
        self.addCleanup(rest.close)
        # kube-root-ca.crt appears when its controller gets to the namespace.
        query = f"watch=true&resourceVersion={revision}&fieldSelector=metadata.name%21%3Dkube-root-ca.crt"
        return rest.stream("GET", f"/api/v1/namespaces/{self.ns}/configmaps?{query}")

    def config_map(self, name):
        return self.make({"metadata": {"name": name}}, "configmaps")

    def next(self, stream):
        event = json.loads(stream.readline())
        return event["type"], event["object"]["metadata"]["name"], event["object"]["metadata"]["resourceVersion"]

    def test_requests_are_unavailable_while_it_is_down(self):
        self.component("apiserver", "stop")
        for path in (f"/api/v1/namespaces/{self.ns}/pods", "/healthz", "/version"):
            answer = self.rest.get(path)
            self.assertEqual(answer.code, 503)
            self.assertEqual((answer.body["kind"], answer.body["reason"]), ("Status", "ServiceUnavailable"))
        self.k_fails("get pods", "connection refused")
        self.component("apiserver", "start")
        self.k("get pods")

    def test_a_watch_that_is_stopped_ends_and_goes_on_from_its_revision(self):
        first = self.config_map("one")["metadata"]["resourceVersion"]
        stream = self.watch(first)
        self.config_map("two")
        kind, name, revision = self.next(stream)
        self.assertEqual((kind, name), ("ADDED", "two"))
        self.component("apiserver", "stop")
        self.assertEqual(stream.read(), b"")
        self.component("apiserver", "start")
        self.config_map("three")
        self.assertEqual(self.next(self.watch(revision))[:2], ("ADDED", "three"))

    def test_a_watch_of_a_server_that_crashes_is_cut(self):
        revision = self.config_map("one")["metadata"]["resourceVersion"]
        stream = self.watch(revision)
        self.config_map("two")
        self.next(stream)
        self.component("apiserver", "crash")
        with self.assertRaises(http.client.IncompleteRead):
            stream.read()
        self.component("apiserver", "start")
        self.assertEqual(self.next(self.watch(revision))[:2], ("ADDED", "two"))

    def test_kubectl_waits_for_a_rollout_through_restarts(self):
        """kubectl watches with client-go's informer, which lists and watches again by itself."""
        before = self.open_watches()
        self.deploy("web")
        rollout = self.start("rollout status deployment/web")
        self.wait_until("kubectl watches", lambda: self.open_watches() > before)
        for verb in ("crash", "stop"):
            self.component("apiserver", verb)
            self.component("apiserver", "start")
        self.run_until("condition=Available", "web", resource="deployments")
        rollout.line_with("successfully rolled out")


class GatesOverProcesses(ComponentCase):
    """On, off and on again with a process for each, on the same --data file."""

    @classmethod
    def server(cls):
        return "http://127.0.0.1:1", ""  # no server yet: each test starts its own

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="terrarium-gates-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.process = None
        self.begin(BOTH_ON)
        super().setUp()

    def begin(self, gates):
        if self.process is not None:
            self.process.kill()
        data = ("--data", self.folder / "cluster.db")
        self.process = Server(binary_from_environment(), "--clock=virtual", *data, gates, folder=self.folder)
        self.addCleanup(self.process.kill)
        self.rest = Rest(self.process.url)
        self.addCleanup(self.rest.close)

    def test_fields_are_kept_and_status_follows_the_gates(self):
        self.deploy("web", podReplacementPolicy="TerminationComplete")
        self.run_until_idle()
        self.assertEqual(self.deployed("web")["status"]["terminatingReplicas"], 0)

        self.begin(BOTH_OFF)
        self.run_until_idle()
        web = self.deployed("web")
        self.assertEqual(web["spec"]["podReplacementPolicy"], "TerminationComplete")
        self.assertNotIn("terminatingReplicas", web["status"])
        self.deploy("other", podReplacementPolicy="TerminationStarted")
        self.rest.patch(self.apps("web"), {"spec": {"replicas": 1}}).expect()
        self.run_until_idle()
        self.assertEqual(self.deployed("web")["spec"]["podReplacementPolicy"], "TerminationComplete")
        self.assertNotIn("podReplacementPolicy", self.deployed("other")["spec"])

        self.begin(BOTH_ON)
        self.run_until_idle()
        web, other = self.deployed("web"), self.deployed("other")
        self.assertEqual(web["spec"]["podReplacementPolicy"], "TerminationComplete")
        self.assertEqual(web["status"]["terminatingReplicas"], 0)
        self.assertEqual(other["status"]["terminatingReplicas"], 0)
        self.assertEqual((web["status"]["availableReplicas"], other["status"]["availableReplicas"]), (1, 2))
        self.rest.patch(self.apps("other"), {"spec": {"podReplacementPolicy": "TerminationStarted"}}).expect()
        self.assertEqual(self.deployed("other")["spec"]["podReplacementPolicy"], "TerminationStarted")
