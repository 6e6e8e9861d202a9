"""What makes two readings comparable, on made-up objects."""

import unittest

import snapshot

MINUTE = 29_631_072  # of the name of a Job whose run was at 03:12


def event(reason, message, count=1, kind="CronJob", name="tick"):
    source = {"CronJob": "cronjob-controller", "StatefulSet": "statefulset-controller"}[kind]
    return {"type": "Normal", "reason": reason, "message": message, "count": count, "source": {"component": source},
            "involvedObject": {"kind": kind, "name": name}}


def read_events(*items):
    """{kind, reason and message: how often} of events about one object."""
    (documents,) = snapshot._events(items, snapshot.Names(["tick", "store"]), True).values()
    return documents[0]["all"]


class Names(unittest.TestCase):
    def test_the_run_of_a_cron_job_is_known_by_its_time_of_day(self):
        names = snapshot.Names(["tick"])
        self.assertEqual(names.text(f"Created job tick-{MINUTE}"), "Created job tick-0312")
        self.assertEqual(names.text(f"tick-{MINUTE + 365 * 24 * 60}-x7k2p"), "tick-0312-*")

    def test_the_hash_of_a_revision_becomes_the_tag_of_its_image(self):
        template = {"spec": {"containers": [{"image": "example.test/app:t3"}]}}
        revision = {"metadata": {"labels": {"controller-revision-hash": "6b9d5c7f8"}},
                    "data": {"spec": {"template": template}}}
        names = snapshot.Names(["agent"])
        names.learn([], [revision])
        self.assertEqual(names.text("agent-6b9d5c7f8"), "agent-{t3}")

    def test_nodes_are_compared_unless_a_rollout_has_stopped(self):
        self.assertEqual(snapshot.Names(["agent"]).text("s10040-7-n2"), "s10040-7-n2")
        self.assertEqual(snapshot.Names(["agent"], nodes=False).text("s10040-7-n2"), "NODE")


class Events(unittest.TestCase):
    def test_a_job_that_its_controller_deleted_may_be_reported_as_missing(self):
        missing = event("MissingJob", f"Active job went missing: tick-{MINUTE}")
        deleted = event("SuccessfulDelete", f"Deleted job tick-{MINUTE}")
        self.assertEqual(read_events(missing, deleted), read_events(deleted))
        self.assertIn("Normal MissingJob: Active job went missing: tick-0312", read_events(missing))

    def test_a_second_deletion_of_a_pod_of_a_stateful_set_is_not_counted(self):
        text = "Delete Pod store-0 in StatefulSet store successful"
        once, twice = (event("SuccessfulDelete", text, count, "StatefulSet", "store") for count in (1, 2))
        self.assertEqual(read_events(once), read_events(twice))

    def test_creations_are_counted(self):
        text = "Create Pod store-0 in StatefulSet store successful"
        once, twice = (event("SuccessfulCreate", text, count, "StatefulSet", "store") for count in (1, 2))
        self.assertNotEqual(read_events(once), read_events(twice))

    def test_conflicts_are_not_compared(self):
        conflict = event("FailedUpdate", f"Update Pod store-0 failed error: {snapshot.CONFLICT}", 1, "StatefulSet", "store")
        other = event("SuccessfulCreate", "created", 1, "StatefulSet", "store")
        self.assertEqual(read_events(conflict, other), read_events(other))


if __name__ == "__main__":
    unittest.main()
