"""The official Python client with the controllers at work."""

from kubernetes import client, config, watch

from base import BOTH_GATES, IMAGE, WorkloadCase, deployment


class PythonClient(WorkloadCase):
    flags = ("--clock=virtual", BOTH_GATES)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        api_client = config.new_client_from_config(cls.environment["KUBECONFIG"])
        cls.addClassCleanup(api_client.close)
        cls.apps, cls.core = client.AppsV1Api(api_client), client.CoreV1Api(api_client)

    def status(self):
        return self.apps.read_namespaced_deployment("web", self.ns).status

    def test_a_rollout(self):
        self.apps.create_namespaced_deployment(self.ns, deployment())
        self.idle()
        status = self.status()
        self.assertEqual((status.observed_generation, status.ready_replicas, status.updated_replicas), (1, 3, 3))
        reasons = {condition.type: (condition.status, condition.reason) for condition in status.conditions}
        self.assertEqual(reasons["Available"], ("True", "MinimumReplicasAvailable"))
        self.assertEqual(reasons["Progressing"], ("True", "NewReplicaSetAvailable"))

        containers = [{"name": "main", "image": f"{IMAGE}:2"}]
        patch = {"spec": {"template": {"spec": {"containers": containers}}}}
        self.apps.patch_namespaced_deployment("web", self.ns, patch)
        self.idle()
        pods = self.core.list_namespaced_pod(self.ns).items
        self.assertEqual([pod.spec.containers[0].image for pod in pods], [f"{IMAGE}:2"] * 3)
        sets = self.apps.list_namespaced_replica_set(self.ns).items
        self.assertEqual(sorted(item.spec.replicas for item in sets), [0, 3])

    def test_scale_and_terminating_replicas(self):
        self.apps.create_namespaced_deployment(self.ns, deployment(replicas=4, script={"stop-after": "20s"}))
        self.idle()
        scale = self.apps.read_namespaced_deployment_scale("web", self.ns)
        self.assertEqual((scale.status.replicas, scale.status.selector), (4, "app=web"))
        self.apps.patch_namespaced_deployment_scale("web", self.ns, {"spec": {"replicas": 1}})
        self.settle()
        self.assertEqual((self.status().replicas, self.status().terminating_replicas), (1, 3))
        self.advance("20s")
        self.assertEqual((self.status().replicas, self.status().terminating_replicas), (1, 0))

    def test_watching_a_deployment_until_it_is_available(self):
        self.apps.create_namespaced_deployment(self.ns, deployment(script={"ready-delay": "30s"}))
        self.advance("30s")
        seen = []
        stream = watch.Watch()
        for event in stream.stream(
            self.apps.list_namespaced_deployment, self.ns, resource_version="1", timeout_seconds=20
        ):
            seen.append(event["object"].status.available_replicas or 0)
            if seen[-1] == 3:
                stream.stop()
        self.assertEqual((seen[0], seen[-1]), (0, 3))

    def test_deletion_with_a_policy(self):
        self.apps.create_namespaced_deployment(self.ns, deployment())
        self.idle()
        self.apps.delete_namespaced_deployment("web", self.ns, propagation_policy="Foreground")
        self.idle()
        self.assertEqual(self.core.list_namespaced_pod(self.ns).items, [])
        self.assertEqual(self.apps.list_namespaced_replica_set(self.ns).items, [])
