"""Services with kubectl: endpoints, slices and describe, from the first pod to the last."""

from base import WorkloadCase, deployment, names


def service(name="web", **spec):
    spec = {"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


class Endpoints(WorkloadCase):
    def slices(self):
        return self.list("endpointslices", "kubernetes.io/service-name=web")

    def endpoints(self):
        return [endpoint for item in self.slices() for endpoint in item.get("endpoints") or []]

    def serve(self, replicas=2, script=None, **spec):
        self.apply(service(**spec))
        self.roll_out(deployment("web", replicas, script=script))

    def test_get(self):
        self.serve()
        addresses = sorted(item["status"]["podIP"] for item in self.pods())
        columns, rows = self.rows("get endpointslices")
        self.assertEqual(columns, ["NAME", "ADDRESSTYPE", "PORTS", "ENDPOINTS", "AGE"])
        self.assertEqual((rows[0]["ADDRESSTYPE"], rows[0]["PORTS"]), ("IPv4", "8080"))
        self.assertEqual(sorted(rows[0]["ENDPOINTS"].split(",")), addresses)
        answer = self.k("get endpoints web --no-headers")
        self.assertEqual(answer.lines[0].split()[1], ",".join(f"{ip}:8080" for ip in addresses))
        self.assertIn("Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice", answer.err)

    def test_describe_service(self):
        self.serve()
        printed = self.k("describe service web").out
        line = next(line for line in printed.splitlines() if line.startswith("Endpoints:"))
        shown = sorted(line.split()[1].split(","))
        self.assertEqual(shown, sorted(f"{item['status']['podIP']}:8080" for item in self.pods()))

    def test_terminating_endpoints(self):
        self.serve(script={"stop-after": "20s"})
        victim = names(self.pods())[0]
        self.k(f"delete pod {victim} --wait=false")
        self.advance("2s")
        conditions = {item["targetRef"]["name"]: item["conditions"] for item in self.endpoints()}
        self.assertEqual(conditions[victim], {"ready": False, "serving": True, "terminating": True})
        self.idle()
        self.assertEqual(sorted(item["targetRef"]["name"] for item in self.endpoints()), names(self.pods()))
        self.assertTrue(all(item["conditions"]["ready"] for item in self.endpoints()))

    def test_expose_and_delete(self):
        self.roll_out(deployment("web", 1))
        self.k("expose deployment web --port=80 --target-port=8080")
        self.idle()
        self.assertEqual(len(self.endpoints()), 1)
        self.k("scale deployment web --replicas=0")
        self.idle()
        self.assertEqual(self.endpoints(), [])
        self.assertEqual(len(self.slices()), 1, "a Service without endpoints has an empty slice")
        self.k("delete service web")
        self.idle()
        self.assertEqual(self.slices(), [])
