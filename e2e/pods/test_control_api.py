"""The control API at /terrarium/v1: the responses and refusals of each endpoint, and the list of endpoints."""

import re
import shutil
import subprocess
import unittest

from base import ControlPlaneCase, pod
from lib.tools import E2E

DOCUMENT = E2E.parent / "docs" / "control-api.md"


class Index(ControlPlaneCase):
    def endpoints(self):
        return self.control("GET", "").expect()["endpoints"]

    def test_it_is_the_same_list_as_the_document(self):
        """Every curl line of the document is served, and every endpoint has one there."""
        text = DOCUMENT.read_text().replace("\\\n", " ")
        documented = {
            (method or "GET", path)
            for method, path in re.findall(r"^curl\s+(?:-X (\w+))?.*\$URL(/terrarium/v1[^\s?\"]*)", text, re.M)
        }
        listed = {(endpoint["method"], endpoint["path"]) for endpoint in self.endpoints()}
        patterns = {(method, path): re.sub(r"\{\w+\}", "[^/]+", path) for method, path in listed}
        served = {
            key: [path for method, path in documented if method == key[0] and re.fullmatch(pattern, path)]
            for key, pattern in patterns.items()
        }
        self.assertEqual([key for key, lines in served.items() if not lines], [], "without a line in the document")
        self.assertEqual(documented - {(key[0], path) for key in served for path in served[key]}, set(), "not served")

    @unittest.skipUnless(shutil.which("curl"), "curl is not installed")
    def test_its_curl_lines_work(self):
        web = pod("web", script={"hold": "terminating"})
        web["spec"]["containers"][0]["name"] = "web"
        for endpoint in self.endpoints():
            if "/pods/" in endpoint["path"]:
                # The lines name a pod in the namespace default, which some of them end.
                self.rest.delete("/api/v1/namespaces/default/pods/web", {"gracePeriodSeconds": 0})
                self.rest.post("/api/v1/namespaces/default/pods", web).expect()
            self.settle()
            quiet = "curl --silent --output /dev/null --write-out '%{http_code}' "
            command = endpoint["curl"].replace("curl ", quiet, 1)
            done = subprocess.run(
                ["sh", "-c", command], env={"URL": self.url, **self.environment}, capture_output=True, text=True
            )
            self.assertEqual(done.stdout, "200", f"{endpoint['curl']}: {done}")

    def test_every_endpoint_has_a_description(self):
        for endpoint in self.endpoints():
            self.assertEqual(set(endpoint), {"method", "path", "about", "curl"})
            self.assertTrue(endpoint["about"])


class ContentTypes(ControlPlaneCase):
    def test_a_body_must_be_json(self):
        """A page of another site can send forms and text to any server without asking first, but not JSON."""
        for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "json"):
            with self.subTest(content_type):
                answer = self.rest.request(
                    "POST", "/terrarium/v1/clock/advance", '{"duration": "1s"}', {"Content-Type": content_type}
                )
                status = answer.expect(415)
                self.assertEqual(status["reason"], "UnsupportedMediaType")
                self.assertIn("--json", status["message"])
        headers = {"Content-Type": "application/json; charset=utf-8"}
        self.rest.request("POST", "/terrarium/v1/clock/advance", '{"duration": "1s"}', headers).expect()

    def test_without_a_body_none_is_needed(self):
        self.control("POST", "/clock/freeze").expect()


class Refusals(ControlPlaneCase):
    def setUp(self):
        super().setUp()
        self.running(pod("web"))

    def is_refused(self, method, path, body, code, reason, *texts):
        answer = self.control(method, path, body)
        asked = f"{method} {path} {body}: {answer.text}"
        self.assertEqual(answer.code, code, asked)
        status = answer.body
        self.assertEqual((status["kind"], status["code"], status["reason"]), ("Status", code, reason), asked)
        for text in texts:
            self.assertIn(text, status["message"], asked)

    def test_unknown_paths(self):
        for path in ("/nothing", "/clock/nothing", "/clock/advance/more", "/pods", "/nodes/node-1", "/gates"):
            self.is_refused("GET", path, None, 404, "NotFound", "the server could not find the requested resource")

    def test_wrong_methods(self):
        table = {
            "": ["POST", "PUT", "DELETE"],
            "/clock": ["POST", "DELETE", "PATCH"],
            "/clock/advance": ["GET", "PUT"],
            "/pods/rules": ["PUT", "DELETE"],
            "/pods/rules/slow": ["GET", "POST"],
            "/pods/hold": ["GET"],
            "/nodes": ["POST"],
            "/nodes/node-1/fail": ["GET", "DELETE"],
            "/components/kubelet/feature-gates": ["POST"],
            "/services": ["POST", "PUT"],
            "/services/default/picker/address": ["GET", "POST"],
            "/store/compact": ["GET"],
            "/why": ["POST", "DELETE"],
        }
        for path, methods in table.items():
            for method in methods:
                self.is_refused(method, path, None, 405, "MethodNotAllowed")

    def test_malformed_bodies(self):
        for body in ("{", "no json", '{"duration": "1s"} more'):
            self.is_refused("POST", "/clock/advance", body, 400, "BadRequest", "the body is not JSON")
        for body in ("[]", '"30s"', "3", "null"):
            self.is_refused("POST", "/clock/advance", body, 400, "BadRequest", "the body must be a JSON object")

    def test_unknown_members(self):
        body = {"bogus": 1}
        posts = ["/clock/freeze", "/clock/advance", "/clock/next-timer", "/clock/run-until-idle", "/clock/run-until"]
        posts += [f"/pods/{order}" for order in ("rules", "hold", "release", "fail", "crash", "evict")]
        posts += ["/nodes/node-1/fail", "/nodes/node-1/recover", "/store/compact"]
        for path in posts:
            self.is_refused("POST", path, body, 400, "BadRequest", 'unknown field "bogus"')
        for path in ("/clock", "/services/default/picker/address"):
            self.is_refused("PUT", path, body, 400, "BadRequest", 'unknown field "bogus"')
        self.is_refused("DELETE", "/pods/rules/slow", body, 400, "BadRequest", 'unknown field "bogus"')
        self.assertEqual(self.control("GET", "/nodes").expect(), {"failed": []})

    def test_malformed_addresses_of_services(self):
        path = "/services/default/picker/address"
        self.is_refused("PUT", path, {}, 400, "BadRequest", "address is missing")
        self.is_refused("PUT", path, {"address": "127.0.0.1:web"}, 400, "BadRequest", "127.0.0.1:web")
        self.is_refused("PUT", path, {"address": "10.0.0.1:80"}, 400, "BadRequest", "10.0.0.1:80", "--pod-picker-allow")
        self.is_refused("PUT", path, {"address": "a.default.svc:80"}, 400, "BadRequest", "a Service cannot stand for another")
        self.is_refused("PUT", "/services/default/Not_It/address", {"address": "127.0.0.1:1"}, 400, "BadRequest", "Not_It")
        self.is_refused("DELETE", path, None, 404, "NotFound", "default/picker")
        self.assertEqual(self.control("GET", "/services").expect(), {"services": []})

    def test_unknown_parameters(self):
        for path in ("/clock", "/pods/rules", "/nodes", "/services", "/why"):
            self.is_refused("GET", f"{path}?bogus=1", None, 400, "BadRequest", 'unknown parameter "bogus"')
        self.is_refused("GET", "/why?resource=pods", None, 400, "BadRequest", "resource and name")
        self.is_refused("GET", "/why?resource=gizmos&name=web", None, 404, "NotFound")
        self.is_refused("GET", "/why?resource=nodes&namespace=default&name=x", None, 400, "BadRequest", "namespace")

    def test_bad_durations(self):
        table = {
            "/clock/advance": "duration",
            "/clock/run-until-idle": "limit",
            "/clock/run-until": "limit",
        }
        for path, member in table.items():
            for value in ("soon", "30", "1 h", "", "-1s", 30, True, None):
                self.is_refused("POST", path, {member: value}, 400, "BadRequest", member)
        self.is_refused("POST", "/clock/advance", {}, 400, "BadRequest", "duration is missing")
        self.is_refused("POST", "/clock/advance", None, 400, "BadRequest", "duration is missing")

    def test_unknown_modes(self):
        for mode in ("fast", "", "scaled", "scaled=", "scaled=0", "scaled=-1", "scaled=nan", "scaled=inf", "scaled=2x"):
            self.is_refused("PUT", "/clock", {"mode": mode}, 400, "BadRequest", mode)
        for body in (None, {}, {"mode": 1000}):
            self.is_refused("PUT", "/clock", body, 400, "BadRequest", "mode")
        self.assertEqual(self.clock()["mode"], "virtual")

    def test_malformed_conditions(self):
        good = {"resource": "pods", "namespace": self.ns, "name": "web", "for": "delete", "limit": "1s"}
        for text in ("", "Ready", "condition=", "condition=Ready=", "jsonpath=.status", "jsonpath={}", "jsonpath={x}"):
            self.is_refused("POST", "/clock/run-until", {**good, "for": text}, 400, "BadRequest", f'"{text}"')
        self.is_refused("POST", "/clock/run-until", {**good, "name": ""}, 400, "BadRequest", "name is missing")
        self.is_refused("POST", "/clock/run-until", {**good, "resource": "gizmos"}, 404, "NotFound")
        self.is_refused("POST", "/clock/run-until", {**good, "resource": "nodes"}, 400, "BadRequest", "namespace")
        for member in ("resource", "namespace", "name", "for"):
            self.is_refused("POST", "/clock/run-until", {**good, member: 7}, 400, "BadRequest", member)

    def test_rules_that_make_no_sense(self):
        def is_refused(rule, *words):
            self.is_refused("POST", "/pods/rules", rule, *words)

        is_refused({"script": {}}, 400, "BadRequest", "name")
        is_refused({"name": "r"}, 400, "BadRequest", "script")
        is_refused({"name": "r", "script": {}, "selector": "a in"}, 400, "BadRequest")
        is_refused({"name": "r", "script": {}, "selector": 7}, 400, "BadRequest", "selector")
        is_refused({"name": "r", "script": {"run-for": "soon"}}, 422, "Invalid", "script[run-for]", '"soon"')
        is_refused({"name": "r", "script": {"bogus": "1s"}}, 422, "Invalid", "script[bogus]", "exit-code")
        self.assertEqual(self.control("GET", "/pods/rules").expect()["rules"], [])

    def test_unknown_rules(self):
        hold = {"rule": "nobody", "point": "ready"}
        self.is_refused("DELETE", "/pods/rules/nobody", None, 404, "NotFound", '"nobody" not found')
        self.is_refused("POST", "/pods/hold", hold, 404, "NotFound", '"nobody" not found')
        self.is_refused("POST", "/pods/release", {"rule": "nobody"}, 404, "NotFound", '"nobody" not found')

    def test_a_name_that_is_taken(self):
        rule = {"name": "slow", "script": {"stop-after": "20s"}, "namespace": "elsewhere"}
        self.control("POST", "/pods/rules", rule).expect()
        self.is_refused("POST", "/pods/rules", rule, 409, "AlreadyExists", '"slow" already exists')
        self.control("DELETE", "/pods/rules/slow").expect()

    def test_unknown_pods(self):
        for order in ("release", "fail", "crash", "evict"):
            nobody = {"namespace": self.ns, "pod": "nobody"}
            self.is_refused("POST", f"/pods/{order}", nobody, 404, "NotFound", 'pods "nobody" not found')
            self.is_refused("POST", f"/pods/{order}", {"pod": "web"}, 400, "BadRequest", "namespace")
            self.is_refused("POST", f"/pods/{order}", {**nobody, "pod": 7}, 400, "BadRequest", "pod")

    def test_orders_that_make_no_sense(self):
        web = {"namespace": self.ns, "pod": "web"}
        for point in ("", "none", "running", None):
            self.is_refused("POST", "/pods/hold", {**web, "point": point}, 400, "BadRequest", "point")
        for code in (-1, 256, "1", 1.5):
            self.is_refused("POST", "/pods/fail", {**web, "exitCode": code}, 400, "BadRequest", "exitCode")
            outcome = {"outcome": {"exitCode": code}}
            self.is_refused("POST", "/pods/release", {**web, **outcome}, 400, "BadRequest", "exitCode")
        self.is_refused("POST", "/pods/release", {**web, "outcome": {"phase": "x"}}, 400, "BadRequest", '"phase"')
        self.is_refused("POST", "/pods/fail", {**web, "exitCode": 0}, 400, "BadRequest", "exitCode")
        self.assertEqual(self.status_column("web"), "Running")

    def test_orders_that_cannot_be_followed(self):
        web = {"namespace": self.ns, "pod": "web"}
        self.is_refused("POST", "/pods/release", web, 409, "Conflict", "not held")
        self.is_refused("POST", "/pods/crash", {**web, "container": "nobody"}, 409, "Conflict")
        self.order("fail", "web").expect()
        for order in ("fail", "crash", "evict"):
            self.is_refused("POST", f"/pods/{order}", web, 409, "Conflict")

    def test_unknown_nodes_and_components(self):
        for order in ("fail", "recover"):
            self.is_refused("POST", f"/nodes/nobody/{order}", None, 404, "NotFound", 'nodes "nobody" not found')
        self.is_refused("GET", "/components/nobody/feature-gates", None, 404, "NotFound", '"nobody" not found')


class WithoutAKubelet(ControlPlaneCase):
    flags = ("--clock=virtual", "--kubelet=false")

    def test_what_the_kubelet_would_do_is_refused(self):
        for call in ("GET /pods/rules", "POST /pods/evict", "GET /nodes", "POST /nodes/x/fail"):
            answer = self.control(*call.split())
            self.assertEqual(answer.code, 409, answer.text)
            self.assertIn("--kubelet=false", answer.body["message"])


class Answers(ControlPlaneCase):
    """Endpoints that no other file tests."""

    def test_feature_gates_of_each_component(self):
        gates = {
            name: self.control("GET", f"/components/{name}/feature-gates").expect()
            for name in ("apiserver", "controller-manager", "scheduler", "kubelet")
        }
        for values in gates.values():
            self.assertIs(values["PodDisruptionConditions"], True)
            self.assertIs(values["DownscalePodPicker"], False)

    def test_compacting(self):
        old = self.rest.get("/api/v1/pods").expect()["metadata"]["resourceVersion"]
        self.make({"metadata": {"name": "one"}}, "configmaps")
        answer = self.control("POST", "/store/compact").expect()
        self.assertGreater(answer["compactedRevision"], int(old))
        expired = self.rest.get(f"/api/v1/pods?resourceVersion={old}&resourceVersionMatch=Exact")
        self.assertEqual((expired.code, expired.body["reason"]), (410, "Expired"))

    def test_why_pods_were_created(self):
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
        self.make({"metadata": {"name": "web"}, "spec": spec}, "replicasets")
        self.settle()
        records = self.control("GET", f"/why?resource=replicasets&namespace={self.ns}&name=web").expect()["records"]
        pods = self.rest.get(self.path_of("pods")).expect()["items"]
        created = {pod["metadata"]["name"] for pod in pods if pod["metadata"]["name"].startswith("web-")}
        self.assertEqual(len(created), 2)
        self.assertEqual({record["name"] for record in records}, created)
        for record in records:
            self.assertEqual((record["action"], record["resource"]), ("create", "pods"))
            self.assertEqual(record["owner"], {"resource": "replicasets", "namespace": self.ns, "name": "web"})
            self.assertTrue(record["rule"])

    def test_nodes_that_were_taken_away(self):
        answer = self.control("POST", "/nodes/node-1/fail").expect()
        self.assertEqual(answer, {"node": "node-1", "up": False, "changed": True})
        self.assertEqual(self.control("POST", "/nodes/node-1/fail").expect()["changed"], False)
        self.assertEqual(self.control("GET", "/nodes").expect(), {"failed": ["node-1"]})
        self.assertEqual(self.control("POST", "/nodes/node-1/recover").expect()["up"], True)
        self.assertEqual(self.control("GET", "/nodes").expect(), {"failed": []})

    def test_a_rule_by_selector(self):
        self.running(pod("web"), pod("other"))
        rule = {"name": "slow", "namespace": self.ns, "selector": "app=web", "script": {"stop-after": "20s"}}
        self.assertEqual(self.control("POST", "/pods/rules", rule).expect(), rule)
        self.assertEqual(self.control("GET", "/pods/rules").expect(), {"rules": [rule], "held": []})
        for name in ("web", "other"):
            self.rest.delete(self.path_of("pods", name)).expect()
        self.settle()
        self.assertEqual((self.is_gone("web"), self.is_gone("other")), (False, True))
        self.advance("19s")
        self.assertFalse(self.is_gone("web"))
        self.advance("1s")
        self.assertTrue(self.is_gone("web"))
        self.assertEqual(self.control("DELETE", "/pods/rules/slow").expect(), rule)
        self.assertEqual(self.control("GET", "/pods/rules").expect()["rules"], [])

    def test_a_rule_that_holds(self):
        rule = {"name": "gate", "namespace": self.ns, "selector": "app=web", "script": {"hold": "ready"}}
        self.control("POST", "/pods/rules", rule).expect()
        self.make(pod("one", labels={"app": "web"}))
        self.make(pod("two", labels={"app": "web"}))
        self.run_until("condition=Ready", "one", limit="10m", outcome="deadline")
        held = self.control("GET", "/pods/rules").expect()["held"]
        self.assertEqual([(entry["pod"], entry["points"]) for entry in held], [("one", ["ready"]), ("two", ["ready"])])
        released = self.control("POST", "/pods/release", {"rule": "gate"}).expect()["released"]
        self.assertEqual([entry["pod"] for entry in released], ["one", "two"])
        for name in ("one", "two"):
            self.run_until("condition=Ready", name, limit="0s")
        self.control("DELETE", "/pods/rules/gate").expect()
