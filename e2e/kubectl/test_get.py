"""kubectl get in its output forms, its selectors and its watch."""

import json

from base import KubectlCase, config_map, deployment, pod, since


class Get(KubectlCase):
    def setUp(self):
        super().setUp()
        self.create(
            pod("blue", labels={"app": "shop", "colour": "blue"}),
            pod("green", labels={"app": "shop", "colour": "green"}, node="node-of-green"),
            pod("red", labels={"app": "till", "colour": "red"}, restartPolicy="Never"),
        )

    def test_plain_shows_the_usual_columns(self):
        out = self.k("get pods").lines
        self.assertEqual(out[0].split(), ["NAME", "READY", "STATUS", "RESTARTS", "AGE"])
        self.assertEqual(
            [line.split()[:4] for line in out[1:]], [[name, "0/1", "Pending", "0"] for name in ("blue", "green", "red")]
        )

    def test_columns_of_kinds(self):
        table = {
            "deployments": "NAME READY UP-TO-DATE AVAILABLE AGE",
            "replicasets": "NAME DESIRED CURRENT READY AGE",
            "statefulsets": "NAME READY AGE",
            "daemonsets": "NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE-SELECTOR AGE",
            "replicationcontrollers": "NAME DESIRED CURRENT READY AGE",
            "jobs": "NAME STATUS COMPLETIONS DURATION AGE",
            "cronjobs": "NAME SCHEDULE TIMEZONE SUSPEND ACTIVE LAST-SCHEDULE AGE",
            "services": "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE",
            "configmaps": "NAME DATA AGE",
            "resourcequotas": "NAME REQUEST LIMIT AGE",
            "secrets": "NAME TYPE DATA AGE",
            "poddisruptionbudgets": "NAME MIN-AVAILABLE MAX-UNAVAILABLE ALLOWED-DISRUPTIONS AGE",
            "leases": "NAME HOLDER AGE",
            "controllerrevisions": "NAME CONTROLLER REVISION AGE",
        }
        for resource, columns in table.items():
            with self.subTest(resource):
                self.create(_an_object_of(resource))
                # At least two blanks separate the columns: some have a blank in their name.
                header = [word for word in self.k(f"get {resource}").lines[0].split("  ") if word.strip()]
                self.assertEqual([word.strip().replace(" ", "-") for word in header], columns.split())

    def test_wide_adds_columns(self):
        header, *rows = self.k("get pods -o wide").lines
        self.assertEqual(header.split()[5:9], ["IP", "NODE", "NOMINATED", "NODE"])
        self.assertIn("node-of-green", rows[1])
        self.create(deployment("shop"))
        out = self.k("get deployment shop -o wide").lines
        self.assertEqual(out[0].split()[-3:], ["CONTAINERS", "IMAGES", "SELECTOR"])
        self.assertEqual(out[1].split()[-3:], ["main", "example.test/app:1", "app=shop"])

    def test_no_headers(self):
        self.assertEqual(len(self.k("get pods --no-headers").lines), 3)

    def test_json_is_a_list_with_items(self):
        answer = self.k("get pods -o json").json
        self.assertEqual((answer["kind"], answer["apiVersion"]), ("List", "v1"))
        self.assertEqual([item["metadata"]["name"] for item in answer["items"]], ["blue", "green", "red"])
        self.assertTrue(all(item["kind"] == "Pod" and item["apiVersion"] == "v1" for item in answer["items"]))

    def test_yaml_holds_what_json_holds(self):
        text = self.k("get pod blue -o yaml").out
        self.assertIn("kind: Pod\n", text)
        self.assertIn("    colour: blue\n", text)
        self.assertIn("  restartPolicy: Always\n", text)

    def test_yaml_can_be_applied_again(self):
        text = self.k("get pod blue -o yaml").out
        self.assertEqual(self.k("replace -f -", stdin=text).out, "pod/blue replaced\n")

    def test_name(self):
        self.assertEqual(self.k("get pods -o name").lines, ["pod/blue", "pod/green", "pod/red"])

    def test_name_of_a_kind_in_a_group(self):
        self.create(deployment("shop"))
        self.assertEqual(self.k("get deploy -o name").lines, ["deployment.apps/shop"])

    def test_jsonpath(self):
        self.assertEqual(self.k(["get", "pods", "-o", "jsonpath={.items[*].metadata.name}"]).out, "blue green red")
        self.assertEqual(self.k(["get", "pod", "red", "-o", "jsonpath={.spec.restartPolicy}"]).out, "Never")
        filtered = '{.items[?(@.metadata.labels.colour=="green")].spec.nodeName}'
        self.assertEqual(self.k(["get", "pods", "-o", "jsonpath=" + filtered]).out, "node-of-green")

    def test_go_template(self):
        template = "{{range .items}}{{.metadata.name}}:{{.metadata.labels.app}} {{end}}"
        self.assertEqual(self.k(["get", "pods", "-o", "go-template=" + template]).out, "blue:shop green:shop red:till ")

    def test_custom_columns(self):
        out = self.k("get pods -o custom-columns=WHO:.metadata.name,WHERE:.spec.nodeName").lines
        self.assertEqual(
            [line.split() for line in out],
            [["WHO", "WHERE"], ["blue", "<none>"], ["green", "node-of-green"], ["red", "<none>"]],
        )

    def test_show_labels_and_label_columns(self):
        self.assertIn("app=shop,colour=blue", self.k("get pods --show-labels").lines[1])
        out = self.k("get pods -L colour").lines
        self.assertEqual([out[0].split()[-1], out[3].split()[-1]], ["COLOUR", "red"])

    def test_label_selectors(self):
        table = {
            "app=shop": ["blue", "green"],
            "app!=shop": ["red"],
            "app==shop,colour=green": ["green"],
            "colour in (red,blue)": ["blue", "red"],
            "colour notin (red,blue)": ["green"],
            "app": ["blue", "green", "red"],
            "!colour": [],
            "colour,app=till": ["red"],
        }
        for selector, names in table.items():
            with self.subTest(selector):
                out = self.k(["get", "pods", "-o", "name", "-l", selector]).lines
                self.assertEqual(out, ["pod/" + name for name in names])

    def test_field_selectors(self):
        table = {
            "metadata.name=blue": ["blue"],
            "metadata.name!=blue": ["green", "red"],
            "spec.nodeName=node-of-green": ["green"],
            "spec.nodeName=": ["blue", "red"],
            "spec.restartPolicy=Never": ["red"],
            "status.phase=Pending": ["blue", "green", "red"],
            "status.phase=Running": [],
            "status.phase=Pending,metadata.name=red": ["red"],
        }
        for selector, names in table.items():
            with self.subTest(selector):
                out = self.k(["get", "pods", "-o", "name", "--field-selector", selector]).lines
                self.assertEqual(out, ["pod/" + name for name in names])

    def test_an_unknown_field_selector_is_refused_by_name(self):
        self.k_fails("get pods --field-selector spec.hostname=x", "spec.hostname")

    def test_sort_by(self):
        out = self.k(["get", "pods", "-o", "name", "--sort-by", "{.spec.nodeName}"]).lines
        self.assertEqual(out[-1], "pod/green")
        out = self.k("get pods --sort-by=.metadata.labels.app").lines
        self.assertEqual(out[-1].split()[0], "red")

    def test_all_namespaces(self):
        first, self.ns = self.ns, self.new_namespace()
        self.create(pod("elsewhere"))
        out = self.k("get pods -A", namespace=False).lines
        self.assertEqual(out[0].split()[:2], ["NAMESPACE", "NAME"])
        pairs = [tuple(line.split()[:2]) for line in out[1:]]
        self.assertIn((first, "blue"), pairs)
        self.assertIn((self.ns, "elsewhere"), pairs)

    def test_several_kinds_in_one_command(self):
        self.create(config_map("settings", a="1"))
        out = self.k("get pods,configmaps -o name").lines
        self.assertEqual(out, ["pod/blue", "pod/green", "pod/red", "configmap/settings"])

    def test_all(self):
        self.create(deployment("shop"))
        out = self.k("get all -o name").lines
        self.assertEqual(out, ["pod/blue", "pod/green", "pod/red", "deployment.apps/shop"])

    def test_one_that_is_not_there(self):
        self.k_fails("get pod nobody", 'Error from server (NotFound): pods "nobody" not found')
        self.assertEqual(self.k("get pod nobody --ignore-not-found").out, "")

    def test_no_resources_found(self):
        self.assertIn(f"No resources found in {self.ns} namespace.", self.k("get jobs").err)

    def test_an_unknown_kind(self):
        self.k_fails("get gadgets", 'the server doesn\'t have a resource type "gadgets"')

    def test_pages(self):
        self.assertEqual(self.k("get pods -o name --chunk-size=1").lines, ["pod/blue", "pod/green", "pod/red"])

    @since(1, 24, "--subresource")
    def test_subresource(self):
        self.create(deployment("shop", replicas=4))
        scale = self.k("get deployment shop --subresource=scale -o json").json
        self.assertEqual(
            (scale["kind"], scale["apiVersion"], scale["spec"]), ("Scale", "autoscaling/v1", {"replicas": 4})
        )
        header, row = self.k("get deployment shop --subresource=scale").lines
        self.assertEqual(header.split(), ["NAME", "DESIRED", "AVAILABLE", "AGE"])
        self.assertEqual(row.split()[:3], ["shop", "4", "0"])

    def test_raw(self):
        self.assertEqual(self.k("get --raw /healthz", namespace=False).out, "ok")
        raw = self.k(f"get --raw /api/v1/namespaces/{self.ns}/pods?limit=1", namespace=False).json
        self.assertEqual((raw["kind"], len(raw["items"]), raw["metadata"]["remainingItemCount"]), ("PodList", 1, 2))


class Watch(KubectlCase):
    def test_plain_watch_prints_each_change(self):
        self.create(pod("first"))
        watch = self.start("get pods -w")
        self.assertEqual(watch.line_with("first").split()[2], "Pending")
        self.create(pod("second"))
        watch.line_with("second")
        self.set_status("pods", "first", {"phase": "Running"})
        self.assertEqual(watch.line_with("first").split()[2], "Running")

    def test_watch_only_starts_with_the_next_change(self):
        self.create(pod("first"))
        watch = self.start("get pods --watch-only -o name")
        # Its first line is the change after its start, in every attempt.
        tries = iter(range(1000))

        def changed():
            self.k(f"label pod first --overwrite try=n{next(tries)}")
            return watch.has_printed()

        self.wait_until("the watch prints something", changed)
        self.assertEqual(watch.line_with("pod"), "pod/first")

    def test_output_watch_events_names_the_kind_of_change(self):
        self.create(pod("first"))
        watch = self.start("get pods -w --output-watch-events")
        self.assertEqual(watch.line_with("first").split()[:2], ["ADDED", "first"])
        self.k("label pod first x=y")
        self.assertEqual(watch.line_with("first").split()[:2], ["MODIFIED", "first"])
        self.k("delete pod first --now")
        watch.line_with("DELETED")

    def test_an_object_that_leaves_the_selector_is_deleted_for_the_watcher(self):
        self.create(pod("first", labels={"app": "shop"}))
        watch = self.start("get pods -w --output-watch-events -l app=shop")
        watch.line_with("ADDED")
        self.k("label pod first app=till --overwrite")
        self.assertEqual(watch.line_with("first").split()[0], "DELETED")

    def test_watch_of_one_object(self):
        self.create(pod("first"), pod("second"))
        watch = self.start("get pod first -w -o name")
        watch.line_with("pod/first")
        self.k("label pod second x=y")
        self.k("label pod first x=y")
        self.assertEqual(watch.line_with("pod/"), "pod/first")

    def test_json_watch(self):
        self.create(pod("first"))
        watch = self.start("get pods -w -o json")
        self.assertIn("first", watch.line_with('"name": "first"'))


def _an_object_of(resource):
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": "i"}]}}
    once = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
    selector = {"matchLabels": {"app": "a"}}
    kind, version, rest = {
        "deployments": ("Deployment", "apps/v1", {"spec": {"selector": selector, "template": template}}),
        "replicasets": ("ReplicaSet", "apps/v1", {"spec": {"selector": selector, "template": template}}),
        "statefulsets": (
            "StatefulSet",
            "apps/v1",
            {"spec": {"selector": selector, "serviceName": "s", "template": template}},
        ),
        "daemonsets": ("DaemonSet", "apps/v1", {"spec": {"selector": selector, "template": template}}),
        "replicationcontrollers": (
            "ReplicationController",
            "v1",
            {"spec": {"selector": {"app": "a"}, "template": template}},
        ),
        "jobs": ("Job", "batch/v1", {"spec": {"template": once}}),
        "cronjobs": (
            "CronJob",
            "batch/v1",
            {"spec": {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": once}}}},
        ),
        "services": ("Service", "v1", {"spec": {"ports": [{"port": 80}], "selector": {"app": "a"}}}),
        "configmaps": ("ConfigMap", "v1", {"data": {"a": "1"}}),
        "resourcequotas": ("ResourceQuota", "v1", {"spec": {"hard": {"secrets": "9"}}}),
        "secrets": ("Secret", "v1", {"stringData": {"a": "1"}}),
        "poddisruptionbudgets": (
            "PodDisruptionBudget",
            "policy/v1",
            {"spec": {"minAvailable": 1, "selector": selector}},
        ),
        "leases": ("Lease", "coordination.k8s.io/v1", {"spec": {"holderIdentity": "me"}}),
        "controllerrevisions": ("ControllerRevision", "apps/v1", {"revision": 1, "data": {"a": 1}}),
    }[resource]
    return json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": "one"}, **rest})
