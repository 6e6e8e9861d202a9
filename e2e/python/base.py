"""The test case of the suite: clients from the server's kubeconfig, a namespace for every test."""

import json
import os
import queue
import threading
import unittest

from kubernetes import client, config, watch

from lib.rest import Rest

WAIT_S = 20


class ClientCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.api_client = config.new_client_from_config(os.environ["KUBECONFIG"])
        cls.addClassCleanup(cls.api_client.close)
        cls.core = client.CoreV1Api(cls.api_client)
        cls.apps = client.AppsV1Api(cls.api_client)
        cls.batch = client.BatchV1Api(cls.api_client)
        cls.rest = Rest(os.environ["TERRARIUM_URL"])
        cls.addClassCleanup(cls.rest.close)

    def setUp(self):
        made = self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(generate_name="python-")))
        self.ns = made.metadata.name

    def compact(self):
        """Drops the server's history before the current revision, so that older reads are 410."""
        self.rest.post("/terrarium/v1/store/compact", None).expect(200)

    def fails(self, code, reason, call, *arguments, **options):
        """The parsed Status of a call that the server must refuse."""
        with self.assertRaises(client.ApiException) as caught:
            call(*arguments, **options)
        body = json.loads(caught.exception.body)
        self.assertEqual(
            (caught.exception.status, body["kind"], body["reason"], body["code"]), (code, "Status", reason, code), body
        )
        return body

    def start_watch(self, function, *arguments, **options):
        """The events of a watch in a queue; the watch ends with the test."""
        stream = watch.Watch()
        events = queue.Queue()

        def read():
            try:
                for event in stream.stream(function, *arguments, **options):
                    events.put(event)
            except Exception as error:  # the test sees it as the next event
                events.put(error)

        threading.Thread(target=read, daemon=True).start()
        self.addCleanup(stream.stop)
        return events

    def next_event(self, events):
        event = events.get(timeout=WAIT_S)
        if isinstance(event, Exception):
            raise event
        return event["type"], event["object"].metadata.name


def config_map(name, labels=None, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data or None)


def pod(name, node=None, **labels):
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels or {"app": name}),
        spec=client.V1PodSpec(node_name=node, containers=[client.V1Container(name="main", image="example.test/app:1")]),
    )


def deployment(name, replicas=3):
    labels = {"app": name}
    return client.V1Deployment(
        metadata=client.V1ObjectMeta(name=name, labels=labels),
        spec=client.V1DeploymentSpec(
            replicas=replicas,
            selector=client.V1LabelSelector(match_labels=labels),
            template=client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=pod(name).spec),
        ),
    )


def job(name, **spec):
    template = client.V1PodTemplateSpec(
        spec=client.V1PodSpec(restart_policy="Never", containers=pod(name).spec.containers)
    )
    return client.V1Job(metadata=client.V1ObjectMeta(name=name), spec=client.V1JobSpec(template=template, **spec))
