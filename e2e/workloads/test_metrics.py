"""/metrics while workloads change: terminating pods, and the controllers' queues."""

from base import BOTH_GATES, BOTH_GATES_OFF, WorkloadCase, deployment, names

QUEUE_METRICS = (
    "workqueue_depth",
    "workqueue_adds_total",
    "workqueue_retries_total",
    "workqueue_unfinished_work_seconds",
    "workqueue_longest_running_processor_seconds",
    "workqueue_queue_duration_seconds_count",
    "workqueue_work_duration_seconds_count",
)
SLOW = {"stop-after": "20s"}


class Metrics(WorkloadCase):
    flags = ("--clock=virtual", BOTH_GATES)

    def replicas(self):
        """(of the Deployment, of its ReplicaSet): the metrics of terminating pods."""
        (owned,) = names(self.list("replicasets"))
        return (
            self.metric("kube_deployment_status_replicas_terminating", namespace=self.ns, deployment="web"),
            self.metric("kube_replicaset_status_terminating_replicas", namespace=self.ns, replicaset=owned),
        )

    def test_terminating_pods_come_and_go(self):
        """KEP-3973, metrics."""
        self.roll_out(deployment(replicas=5, script=SLOW))
        self.assertEqual(self.replicas(), (0, 0))
        self.k("scale deployment web --replicas=2")
        self.settle()
        self.assertEqual(self.replicas(), (3, 3))
        labels = {"namespace": self.ns, "deployment": "web"}
        self.assertEqual(self.metric("kube_deployment_status_replicas", **labels), 2)
        self.assertEqual(self.metric("kube_deployment_spec_replicas", **labels), 2)
        self.advance("20s")
        self.assertEqual(self.replicas(), (0, 0))

    def test_the_queues_of_the_controllers(self):
        queues = ("deployment", "replicaset", "replicationmanager")
        for queue in queues:
            for family in QUEUE_METRICS:
                self.assertIsNotNone(self.metric(family, name=queue), (family, queue))
        before = {queue: self.metric("workqueue_adds_total", name=queue) for queue in queues}
        self.roll_out(deployment())
        after = {queue: self.metric("workqueue_adds_total", name=queue) for queue in queues}
        self.assertGreater(after["deployment"], before["deployment"])
        self.assertGreater(after["replicaset"], before["replicaset"])
        self.assertEqual(after["replicationmanager"], before["replicationmanager"])
        self.assertEqual({self.metric("workqueue_depth", name=queue) for queue in queues}, {0})


class GatesOff(Metrics):
    flags = ("--clock=virtual", BOTH_GATES_OFF)

    def test_terminating_pods_come_and_go(self):
        """KEP-3973, metrics: an absent counter has no sample."""
        self.roll_out(deployment(replicas=5, script=SLOW))
        self.k("scale deployment web --replicas=2")
        self.settle()
        self.assertEqual(self.replicas(), (None, None))
