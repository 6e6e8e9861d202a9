"""The commands that create objects from flags: create KIND, run, expose."""

import base64

from base import KubectlCase, config_map, deployment, manifest_file, pod, since


class Create(KubectlCase):
    def test_from_stdin_and_again(self):
        self.assertEqual(self.k("create -f -", stdin=config_map("one")).out, "configmap/one created\n")
        self.k_fails(
            "create -f -",
            "Error from server (AlreadyExists)",
            'configmaps "one" already exists',
            stdin=config_map("one"),
        )

    def test_generate_name(self):
        item = config_map("")
        item["metadata"] = {"generateName": "made-"}
        names = {self.k("create -o name -f -", stdin=item).out for _ in range(3)}
        self.assertEqual(len(names), 3)
        self.assertTrue(all(name.startswith("configmap/made-") for name in names), names)

    def test_namespace(self):
        name = self.ns + "-more"
        self.assertEqual(self.k(f"create namespace {name}", namespace=False).out, f"namespace/{name} created\n")
        stored = self.k(f"get namespace {name} -o json", namespace=False).json
        self.assertEqual((stored["status"]["phase"], stored["spec"]["finalizers"]), ("Active", ["kubernetes"]))
        self.assertEqual(stored["metadata"]["labels"], {"kubernetes.io/metadata.name": name})

    def test_deployment(self):
        self.k("create deployment shop --image=example.test/app:1 --replicas=2 --port=8080")
        spec = self.get("deployment shop")["spec"]
        self.assertEqual((spec["replicas"], spec["selector"]), (2, {"matchLabels": {"app": "shop"}}))
        self.assertEqual(
            spec["template"]["spec"]["containers"][0]["ports"], [{"containerPort": 8080, "protocol": "TCP"}]
        )

    def test_job(self):
        self.k("create job once --image=example.test/app:1 -- /bin/true --fast")
        spec = self.get("job once")["spec"]
        self.assertEqual(spec["template"]["spec"]["containers"][0]["command"], ["/bin/true", "--fast"])
        self.assertEqual(spec["template"]["spec"]["restartPolicy"], "Never")
        self.assertIn("batch.kubernetes.io/controller-uid", spec["selector"]["matchLabels"])

    @since(1, 21, "older ones write batch/v1beta1, which is served no more")
    def test_cron_job_and_a_job_from_it(self):
        self.k(["create", "cronjob", "nightly", "--image=a:1", "--schedule=0 3 * * *", "--", "/bin/backup"])
        self.k("create job by-hand --from=cronjob/nightly")
        job = self.get("job by-hand")
        self.assertEqual(job["metadata"]["ownerReferences"][0]["name"], "nightly")
        self.assertEqual(job["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"], "manual")

    def test_config_map_from_literals(self):
        self.k("create configmap settings --from-literal=a=1 --from-literal=b=two")
        self.assertEqual(self.get("configmap settings")["data"], {"a": "1", "b": "two"})

    @manifest_file
    def test_config_map_from_files(self, folder):
        (folder / "text.conf").write_text("line\n")
        (folder / "raw.bin").write_bytes(b"\xff\x00\xfe")
        self.k(["create", "configmap", "files", f"--from-file={folder}"])
        stored = self.get("configmap files")
        self.assertEqual(stored["data"], {"text.conf": "line\n"})
        self.assertEqual(base64.b64decode(stored["binaryData"]["raw.bin"]), b"\xff\x00\xfe")

    def test_secrets(self):
        self.k("create secret generic plain --from-literal=password=swordfish")
        stored = self.get("secret plain")
        self.assertEqual((stored["type"], base64.b64decode(stored["data"]["password"])), ("Opaque", b"swordfish"))
        self.k(
            "create secret docker-registry puller --docker-server=example.test --docker-username=u --docker-password=p"
        )
        self.assertEqual(self.get("secret puller")["type"], "kubernetes.io/dockerconfigjson")

    def test_services(self):
        self.k("create service clusterip inner --tcp=80:8080")
        port = self.get("service inner")["spec"]["ports"][0]
        self.assertEqual((port["port"], port["targetPort"], port["protocol"]), (80, 8080, "TCP"))
        self.k("create service externalname outer --external-name=example.test")
        self.assertEqual(self.get("service outer")["spec"]["type"], "ExternalName")

    def test_service_account(self):
        self.k("create serviceaccount robot")
        self.assertEqual(self.get("serviceaccount robot")["metadata"]["name"], "robot")

    def test_quota(self):
        self.k("create quota small --hard=pods=2,requests.cpu=1500m --scopes=NotTerminating")
        spec = self.get("resourcequota small")["spec"]
        self.assertEqual(spec, {"hard": {"pods": "2", "requests.cpu": "1500m"}, "scopes": ["NotTerminating"]})
        self.set_status("resourcequotas", "small", {"hard": spec["hard"], "used": {"pods": "1", "requests.cpu": "0"}})
        self.assertIn("pods: 1/2, requests.cpu: 0/1500m", self.k("get quota small").out)
        self.assertRegex(self.k("describe quota small").out, r"pods +1 +2")

    @since(1, 21, "older ones write policy/v1beta1, which is served no more")
    def test_disruption_budget(self):
        self.k("create poddisruptionbudget shop --selector=app=shop --min-available=50%")
        spec = self.get("poddisruptionbudget shop")["spec"]
        self.assertEqual(spec, {"minAvailable": "50%", "selector": {"matchLabels": {"app": "shop"}}})

    def test_edit_before_creating(self):
        self.k("create deployment shop --image=a:1")
        result = self.edit_with("create --edit -f " + self._manifest(config_map("settings", a="1")), 's/"1"/"2"/')
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.get("configmap settings")["data"], {"a": "2"})

    def _manifest(self, item):
        path = self.home / "manifest.json"
        path.write_text(self._text(item))
        return str(path)


class Run(KubectlCase):
    def test_pod(self):
        self.assertEqual(
            self.k("run shell --image=a:1 --labels=x=y --env=A=1 --port=80 --restart=Never -- sh -c true").out,
            "pod/shell created\n",
        )
        stored = self.get("pod shell")
        main = stored["spec"]["containers"][0]
        self.assertEqual(stored["metadata"]["labels"], {"x": "y"})
        self.assertEqual(stored["spec"]["restartPolicy"], "Never")
        self.assertEqual(
            (main["name"], main["args"], main["env"]), ("shell", ["sh", "-c", "true"], [{"name": "A", "value": "1"}])
        )

    def test_overrides(self):
        self.k(
            [
                "run",
                "shell",
                "--image=a:1",
                '--overrides={"apiVersion":"v1","spec":{"terminationGracePeriodSeconds":3}}',
            ]
        )
        self.assertEqual(self.get("pod shell")["spec"]["terminationGracePeriodSeconds"], 3)

    def test_invalid_name(self):
        self.k_fails("run Shell --image=a:1", "Shell")


class Expose(KubectlCase):
    def test_deployment(self):
        self.create(deployment("shop"))
        self.assertEqual(self.k("expose deployment shop --port=80 --target-port=8080").out, "service/shop exposed\n")
        spec = self.get("service shop")["spec"]
        self.assertEqual(spec["selector"], {"app": "shop"})
        self.assertEqual((spec["ports"][0]["port"], spec["ports"][0]["targetPort"]), (80, 8080))

    def test_pod_by_name_and_type(self):
        self.create(pod("shop"))
        self.k("expose pod shop --port=80 --name=front --type=NodePort")
        self.assertEqual(self.get("service front")["spec"]["type"], "NodePort")
