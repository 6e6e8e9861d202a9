"""Jobs and CronJobs with kubectl and the official Python client, in a whole cluster."""

from kubernetes import client, config

from base import WorkloadCase, is_live, names, template

QUICK = {"run-for": "5s"}


def job(name="work", script=None, **spec):
    """`script` has the keys of its pods' script (docs/pod-scripts.md). Without an end there, the pods run forever."""
    pods = template(name, "example.test/app:1", {"run-for": "forever", **(script or {})})
    pods["metadata"].pop("labels", None)
    pods["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {**spec, "template": pods},
    }


class Jobs(WorkloadCase):
    def counts(self, name="work"):
        """The counters of its status that are not zero."""
        status = self.stored(name, "jobs").get("status", {})
        counters = ("active", "ready", "terminating", "succeeded", "failed")
        return {key: status[key] for key in counters if status.get(key)}

    def conditions(self, name="work"):
        items = self.stored(name, "jobs")["status"].get("conditions", [])
        return [item["type"] for item in items if item["status"] == "True"]

    def test_create_wait_describe_delete(self):
        self.k("create job once --image=example.test/app:1 -- /bin/true")
        self.settle()
        columns, (row,) = self.rows("get job once")
        self.assertEqual(columns[:3], ["NAME", "STATUS", "COMPLETIONS"])
        self.assertEqual((row["STATUS"], row["COMPLETIONS"]), ("Running", "0/1"))
        self.idle()
        out = self.k("wait --for=condition=complete job/once --timeout=10s").out
        self.assertEqual(out, "job.batch/once condition met\n")
        told = self.k("describe job once").out
        self.assertIn("0 Active (0 Ready) / 1 Succeeded / 0 Failed", told)
        self.assertRegex(told, r"SuccessfulCreate .*job-controller +Created pod: once-")
        self.assertRegex(told, r"Completed .*job-controller +Job completed")
        self.k("delete job once")
        self.idle()
        self.assertEqual((self.list("jobs"), self.list("pods")), ([], []))

    def test_a_job_that_fails_reports_why(self):
        self.make(job(backoffLimit=0, script={"exit-code": "1"}), "jobs")
        self.idle()
        self.k("wait --for=condition=failed job/work --timeout=10s")
        self.assertIn("Warning", self.k("describe job work").out)
        self.assertEqual(
            self.events("work", "BackoffLimitExceeded"),
            [("BackoffLimitExceeded", "Job has reached the specified backoff limit")],
        )

    def test_suspend_and_resume(self):
        self.make(job(completions=2, parallelism=2), "jobs")
        self.idle()
        self.assertEqual(self.counts(), {"active": 2, "ready": 2})
        self.k(["patch", "job", "work", "--type=strategic", "-p", '{"spec":{"suspend":true}}'])
        self.idle()
        self.assertEqual((self.counts(), self.conditions(), self.list("pods")), ({}, ["Suspended"], []))
        self.k("wait --for=condition=suspended job/work --timeout=10s")
        self.k(["patch", "job", "work", "--type=merge", "-p", '{"spec":{"suspend":false}}'])
        self.idle()
        self.assertEqual((self.counts(), self.conditions()), ({"active": 2, "ready": 2}, []))
        reasons = [reason for reason, _ in self.events("work", "Suspended", "Resumed")]
        self.assertEqual(reasons, ["Suspended", "Resumed"])

    def test_indexed_pods_have_names_hostnames_and_completed_indexes(self):
        self.make(job(completions=3, parallelism=3, completionMode="Indexed", script=QUICK), "jobs")
        self.idle()
        self.assertEqual(self.stored("work", "jobs")["status"]["completedIndexes"], "0-2")
        self.assertIn("Completed Indexes:  0-2", self.k("describe job work").out)
        pods = self.list("pods", "batch.kubernetes.io/job-completion-index=1")
        self.assertEqual([item["spec"]["hostname"] for item in pods], ["work-1"])
        self.assertRegex(names(pods)[0], "^work-1-[a-z0-9]{5}$")

    def replace(self, policy):
        """Deletes the pod of a Job that is slow to stop; (counts, live pods) while it stops, and afterwards."""
        self.make(job(backoffLimit=2, podReplacementPolicy=policy, script={"hold": "terminating"}), "jobs")
        self.idle()
        (first,) = names(self.pods())
        self.k(f"delete pod {first} --wait=false")
        self.advance("1m")
        during = (self.counts(), len(self.pods()))
        self.order("release", first, outcome={"exitCode": 143}).expect()
        self.idle()
        self.assertTrue(self.is_gone(first))
        return during, (self.counts(), len(self.pods()))

    def test_policy_failed_waits_until_the_pod_is_gone(self):
        """KEP-3939, e2e."""
        during, after = self.replace("Failed")
        self.assertEqual(during, ({"terminating": 1}, 0))
        self.assertEqual(after, ({"active": 1, "ready": 1, "failed": 1}, 1))

    def test_policy_terminating_or_failed_does_not_wait(self):
        """KEP-3939, e2e."""
        during, after = self.replace("TerminatingOrFailed")
        self.assertEqual(during, ({"active": 1, "ready": 1, "terminating": 1, "failed": 1}, 1))
        self.assertEqual(after, ({"active": 1, "ready": 1, "failed": 1}, 1))

    def test_metrics(self):
        self.make(job(script=QUICK), "jobs")
        self.idle()
        labels = {"namespace": self.ns, "job_name": "work"}
        self.assertEqual(self.metric("kube_job_status_succeeded", **labels), 1)
        self.assertEqual(self.metric("kube_job_complete", condition="true", **labels), 1)
        created = self.metric("job_controller_job_pods_creation_total", reason="new", status="succeeded")
        self.assertGreaterEqual(created, 1)

    def test_a_cron_job_runs_every_night(self):
        self.k(["create", "cronjob", "nightly", "--image=a:1", "--schedule=0 3 * * *"])
        self.advance("48h")
        columns, (row,) = self.rows("get cronjobs")
        self.assertEqual((columns[:2], row["NAME"], row["SCHEDULE"]), (["NAME", "SCHEDULE"], "nightly", "0 3 * * *"))
        finished = [item["status"]["succeeded"] for item in self.list("jobs")]
        self.assertEqual(finished, [1, 1])
        self.k("create job by-hand --from=cronjob/nightly")
        self.settle()
        self.assertEqual(len([item for item in self.list("pods") if is_live(item)]), 1)

    def test_time_to_live(self):
        self.make(job(ttlSecondsAfterFinished=60, script=QUICK), "jobs")
        self.run_until("condition=Complete", "work", "jobs")
        self.idle()
        self.assertEqual((self.list("jobs"), self.list("pods")), ([], []))


class PythonClient(WorkloadCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        api_client = config.new_client_from_config(cls.environment["KUBECONFIG"])
        cls.addClassCleanup(api_client.close)
        cls.batch, cls.core = client.BatchV1Api(api_client), client.CoreV1Api(api_client)

    def test_status_of_a_job(self):
        self.batch.create_namespaced_job(
            self.ns, job(completions=2, parallelism=2, completionMode="Indexed", script={"stop-after": "20s"})
        )
        self.idle()
        status = self.batch.read_namespaced_job("work", self.ns).status
        self.assertEqual((status.active, status.ready, status.terminating, status.failed), (2, 2, 0, None))
        self.assertIsNone(status.completion_time)
        victim = self.core.list_namespaced_pod(self.ns).items[0].metadata.name
        self.core.delete_namespaced_pod(victim, self.ns)
        self.advance("2s")
        status = self.batch.read_namespaced_job_status("work", self.ns).status
        self.assertEqual((status.active, status.terminating, status.failed), (1, 1, 1))

    def test_deletion_with_a_policy(self):
        self.batch.create_namespaced_job(self.ns, job())
        self.idle()
        self.batch.delete_namespaced_job("work", self.ns, propagation_policy="Foreground")
        self.idle()
        self.assertEqual(self.batch.list_namespaced_job(self.ns).items, [])
        self.assertEqual(self.core.list_namespaced_pod(self.ns).items, [])
