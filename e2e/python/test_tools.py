"""The package's tools: the dynamic client, create_from_yaml, leader election, versions."""

import logging
import os
import pathlib
import queue
import tempfile
import threading

from kubernetes import client, config, dynamic, utils
from kubernetes.dynamic.exceptions import BadRequestError, NotFoundError
from kubernetes.informer.informer import ADDED, DELETED, SharedInformer
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

from base import WAIT_S, ClientCase, config_map

MANIFEST = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  colour: blue
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - {name: main, image: "example.test/app:1"}
"""


class Dynamic(ClientCase):
    def setUp(self):
        super().setUp()
        self.dynamic = dynamic.DynamicClient(self.api_client)

    def test_life(self):
        maps = self.dynamic.resources.get(api_version="v1", kind="ConfigMap")
        maps.create(body={"metadata": {"name": "one"}, "data": {"a": "1"}}, namespace=self.ns)
        maps.patch(
            name="one", namespace=self.ns, body={"data": {"b": "2"}}, content_type="application/merge-patch+json"
        )
        stored = maps.get(name="one", namespace=self.ns)
        self.assertEqual(stored.data.to_dict(), {"a": "1", "b": "2"})
        self.assertEqual([item.metadata.name for item in maps.get(namespace=self.ns).items], ["one"])
        maps.delete(name="one", namespace=self.ns)
        with self.assertRaises(NotFoundError):
            maps.get(name="one", namespace=self.ns)

    def test_unknown_field_under_strict_validation(self):
        maps = self.dynamic.resources.get(api_version="v1", kind="ConfigMap")
        with self.assertRaises(BadRequestError) as caught:
            maps.create(
                body={"metadata": {"name": "one"}, "date": {"a": "1"}},
                namespace=self.ns,
                query_params=[("fieldValidation", "Strict")],
            )
        self.assertIn('unknown field "date"', caught.exception.summary())

    def test_subresources_are_discovered(self):
        deployments = self.dynamic.resources.get(api_version="apps/v1", kind="Deployment")
        self.assertEqual(sorted(deployments.subresources), ["scale", "status"])

    def test_watch(self):
        maps = self.dynamic.resources.get(api_version="v1", kind="ConfigMap")
        maps.create(body={"metadata": {"name": "one"}}, namespace=self.ns)
        for event in maps.watch(namespace=self.ns, timeout=WAIT_S):
            self.assertEqual((event["type"], event["object"].metadata.name), ("ADDED", "one"))
            break
        else:
            self.fail("no event came")


class Yaml(ClientCase):
    def test_create_from_yaml(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "all.yaml"
            path.write_text(MANIFEST)
            utils.create_from_yaml(self.api_client, str(path), namespace=self.ns)
            self.assertEqual(self.core.read_namespaced_config_map("settings", self.ns).data, {"colour": "blue"})
            self.assertEqual(self.apps.read_namespaced_deployment("shop", self.ns).spec.replicas, 1)
            with self.assertRaises(utils.FailToCreateError) as caught:
                utils.create_from_yaml(self.api_client, str(path), namespace=self.ns)
            self.assertEqual([error.status for error in caught.exception.api_exceptions], [409, 409])


class Server(ClientCase):
    def test_version_and_groups(self):
        self.assertEqual(client.VersionApi(self.api_client).get_code().minor, "36")
        groups = {group.name for group in client.ApisApi(self.api_client).get_api_versions().groups}
        self.assertLessEqual({"apps", "batch", "policy", "coordination.k8s.io", "events.k8s.io"}, groups)

    def test_self_review(self):
        review = client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(
                resource_attributes=client.V1ResourceAttributes(verb="create", resource="pods", namespace=self.ns)
            )
        )
        answer = client.AuthorizationV1Api(self.api_client).create_self_subject_access_review(review)
        self.assertIs(answer.status.allowed, True)


class Informer(ClientCase):
    def test_follows_changes(self):
        self.core.create_namespaced_config_map(self.ns, config_map("one"))
        # The period makes the stream end every second, so that the informer resumes all the time and can be stopped.
        informer = SharedInformer(self.core.list_namespaced_config_map, namespace=self.ns, resync_period=1)
        events = queue.Queue()
        for kind in (ADDED, DELETED):
            informer.add_event_handler(kind, lambda item, kind=kind: events.put((kind, item.metadata.name)))
        # Stopping it closes the stream under its reader, which it reports as an error.
        logging.getLogger("kubernetes.informer.informer").setLevel(logging.CRITICAL)
        informer.start()
        self.addCleanup(informer.stop)
        self.assertEqual(events.get(timeout=WAIT_S), (ADDED, "one"))
        self.core.create_namespaced_config_map(self.ns, config_map("two"))
        self.assertEqual(events.get(timeout=WAIT_S), (ADDED, "two"))
        self.core.delete_namespaced_config_map("one", self.ns)
        self.assertEqual(events.get(timeout=WAIT_S), (DELETED, "one"))
        self.assertEqual([item.metadata.name for item in informer.cache.list()], ["two"])


class LeaderElection(ClientCase):
    def test_a_lease_is_taken_and_kept(self):
        config.load_kube_config(os.environ["KUBECONFIG"])  # the lock uses the default client
        leads = threading.Event()
        elector = leaderelection.LeaderElection(
            electionconfig.Config(
                LeaseLock("leader", self.ns, "me"),
                lease_duration=3,
                renew_deadline=2,
                retry_period=1,
                onstarted_leading=leads.set,
                onstopped_leading=lambda: None,
            )
        )
        threading.Thread(target=elector.run, daemon=True).start()
        self.assertTrue(leads.wait(WAIT_S))
        leases = client.CoordinationV1Api(self.api_client)
        taken = leases.read_namespaced_lease("leader", self.ns)
        self.assertEqual(taken.spec.holder_identity, "me")
        events = self.start_watch(
            leases.list_namespaced_lease, self.ns, resource_version=taken.metadata.resource_version
        )
        self.assertEqual(self.next_event(events), ("MODIFIED", "leader"))
        self.assertGreater(leases.read_namespaced_lease("leader", self.ns).spec.renew_time, taken.spec.renew_time)
