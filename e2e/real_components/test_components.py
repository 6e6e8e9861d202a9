"""kube-controller-manager, with all of its controllers, and kube-scheduler on a server that has neither."""

import contextlib
import os
import time
import unittest

import objects
import program
from lib.rest import Rest
from lib.server import SLOWDOWN, Server, binary_from_environment

SYNC_TIMEOUT_S = 60 * SLOWDOWN
WORK_TIMEOUT_S = 60 * SLOWDOWN
# The programs start their informers within moments; this long without a new one means that all are there.
SETTLED_S = 2
NODES = 3
NAMESPACE = "real"
ALONE = ("--leader-elect=false", "--secure-port=0")

# Informers that each program must have: kinds that workloads lean on, and those that only the scheduler reads.
CONTROLLER_MANAGER_KINDS = ("Pod", "StatefulSet", "DaemonSet", "CronJob", "PersistentVolumeClaim", "StorageClass",
                            "VolumeAttachment", "EndpointSlice", "ResourceClaim", "ServiceAccount")
SCHEDULER_KINDS = ("Pod", "Node", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "CSINode", "CSIDriver",
                   "CSIStorageCapacity", "VolumeAttachment", "ResourceClaim", "ResourceSlice", "DeviceClass")


class Components(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        flags = ("--controllers=-*", "--scheduler=false", f"--nodes={NODES}", "--log-level=error")
        server = stack.enter_context(Server(binary_from_environment(), *flags))
        cls.rest = Rest(server.url)
        stack.callback(cls.rest.close)
        cls.manager = stack.enter_context(
            program.Program(os.environ["KUBE_CONTROLLER_MANAGER"], f"--kubeconfig={server.kubeconfig}", "--controllers=*",
                            "--use-service-account-credentials=false", "--kube-api-qps=500", "--kube-api-burst=1000",
                            *ALONE)
        )
        cls.scheduler = stack.enter_context(
            program.Program(os.environ["KUBE_SCHEDULER"], f"--kubeconfig={server.kubeconfig}",
                            "--authentication-skip-lookup", *ALONE)
        )
        cls._await_informers()
        cls.rest.post("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}).expect()

    @classmethod
    def _await_informers(cls):
        """Waits until all informers of both programs have their objects."""
        give_up, since, before = time.monotonic() + SYNC_TIMEOUT_S, time.monotonic(), None
        while True:
            logs = cls.manager.log(), cls.scheduler.log()
            now = [sorted(program.informers(log).items()) for log in logs]
            if now != before:
                before, since = now, time.monotonic()
            waiting = [one for log in logs for one in program.unsynced(log)]
            if all(now) and not waiting and time.monotonic() - since > SETTLED_S:
                return
            running = cls.manager.is_running() and cls.scheduler.is_running()
            if not running or time.monotonic() > give_up:
                raise AssertionError(f"informers that wait: {waiting}\n" + "\n".join(log[-4000:] for log in logs))
            time.sleep(0.1)

    def tearDown(self):
        """Whatever a test does, no informer fails meanwhile."""
        for each in (self.manager, self.scheduler):
            log = each.log()
            self.assertTrue(each.is_running(), each.name)
            self.assertEqual(program.failures(log), [], each.name)
            self.assertEqual((program.unsynced(log), program.repeated(log)), ([], []), each.name)

    def await_that(self, what, is_so):
        give_up = time.monotonic() + WORK_TIMEOUT_S
        while not is_so():
            if time.monotonic() > give_up:
                logs = "\n".join(each.log()[-6000:] for each in (self.manager, self.scheduler))
                self.fail(f"not in time: {what}\n{logs}")
            time.sleep(0.1)

    def create(self, path, item):
        return self.rest.post(path.format(namespace=NAMESPACE), item).expect()

    def status(self, path, name):
        return self.rest.get(path.format(namespace=NAMESPACE) + f"/{name}").expect().get("status", {})

    def pods(self, app):
        items = self.rest.get(f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app={app}").expect()["items"]
        return {item["metadata"]["name"]: item for item in items}

    def running(self, app):
        return {name: pod for name, pod in self.pods(app).items() if pod["status"].get("phase") == "Running"}

    def test_a_stateful_set_gets_its_pods_in_order_and_its_claims(self):
        for number in range(2):
            self.create("/api/v1/persistentvolumes", objects.volume(f"disk-{number}"))
        self.create(objects.STATEFUL_SETS, objects.stateful_set("store", 2))
        self.await_that("two pods of the StatefulSet run",
                        lambda: self.status(objects.STATEFUL_SETS, "store").get("readyReplicas") == 2)
        self.assertEqual(sorted(self.running("store")), ["store-0", "store-1"])
        for number in range(2):
            self.assertEqual(self.status(objects.CLAIMS, f"data-store-{number}")["phase"], "Bound")

    def test_a_daemon_set_gets_a_pod_on_every_node(self):
        self.create(objects.DAEMON_SETS, objects.daemon_set("agent"))
        self.await_that("a pod of the DaemonSet is ready on each node",
                        lambda: self.status(objects.DAEMON_SETS, "agent").get("numberReady") == NODES)
        self.assertEqual(len({pod["spec"]["nodeName"] for pod in self.running("agent").values()}), NODES)

    def test_a_cron_job_starts_jobs_that_complete(self):
        self.create(objects.CRON_JOBS, objects.cron_job("tick", "@every 2s"))
        self.await_that("a run of the CronJob has succeeded",
                        lambda: "lastSuccessfulTime" in self.status(objects.CRON_JOBS, "tick"))
        self.rest.delete(objects.CRON_JOBS.format(namespace=NAMESPACE) + "/tick").expect()

    def test_a_deployment_becomes_available_and_its_service_has_endpoints(self):
        self.create("/api/v1/namespaces/{namespace}/services", objects.service("web"))
        self.create(objects.DEPLOYMENTS, objects.deployment("web", 3))
        self.await_that("the Deployment is available",
                        lambda: self.status(objects.DEPLOYMENTS, "web").get("availableReplicas") == 3)
        addresses = {pod["status"]["podIP"] for pod in self.running("web").values()}
        path = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices?labelSelector=kubernetes.io/service-name=web"

        def ready_addresses():
            endpoints = [one for item in self.rest.get(path).expect()["items"] for one in item.get("endpoints") or []]
            return {address for one in endpoints if one["conditions"]["ready"] for address in one["addresses"]}

        self.await_that("all pods are ready endpoints", lambda: ready_addresses() == addresses)

    def test_every_namespace_gets_its_service_account(self):
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
        self.await_that("the default ServiceAccount exists", lambda: self.rest.get(path).code == 200)

    def test_the_programs_have_informers_of_the_kinds_that_are_meant(self):
        for each, kinds in ((self.manager, CONTROLLER_MANAGER_KINDS), (self.scheduler, SCHEDULER_KINDS)):
            watched = {kind.rpartition(".")[2] for kind, _ in program.informers(each.log())}
            self.assertLessEqual(set(kinds), watched, each.name)


if __name__ == "__main__":
    unittest.main()
