"""Scripts about CronJobs.

The two clusters have different clocks, so no step waits for a schedule. The last run of a CronJob is set to a time years
ago, and its schedule is a minute of a day in May: a run is due, and the next one is months away. Another minute makes
another run due.
"""

import objects
from maker import PROPAGATIONS, Maker

LONG_AGO = "2020-01-01T00:00:00Z"
FIRST_MINUTE = 10
SCRIPTS = [
    {"run-for": "2500ms"},
    {"run-for": "3500ms"},
    {"run-for": "1500ms", "exit-code": "1"},
    {"run-for": "forever"},
    {"run-for": "forever", "stop-after": "2s"},
]


class CronJobs(Maker):
    """One CronJob whose runs come due, and the actions of its users."""

    def begin(self):
        self.workloads = ["tick"]
        self._minute = FIRST_MINUTE
        self.create()

    def _schedule(self, days="9 5 *"):
        self._minute += 1
        return f"{self._minute} 3 {days}"

    def create(self):
        prng = self._prng
        template = objects.template({"cron": "tick"}, self.tag(), prng.choice(SCRIPTS), prng.choice([None, 3]))
        template["spec"]["restartPolicy"] = "Never"
        job = {"template": template, "backoffLimit": prng.choice([0, 0, 1])}
        if prng.random() < 0.2:
            job["ttlSecondsAfterFinished"] = 3
        spec = {"schedule": self._schedule(), "jobTemplate": {"metadata": {"labels": {"of": "tick"}}, "spec": job}}
        if prng.random() < 0.7:
            spec["concurrencyPolicy"] = prng.choice(["Forbid", "Replace", "Allow"])
        if prng.random() < 0.2:
            spec["suspend"] = True
        if prng.random() < 0.2:
            spec["startingDeadlineSeconds"] = prng.choice([60, 10**9])
        for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
            if prng.random() < 0.5:
                spec[field] = prng.choice([0, 1, 2])
        if prng.random() < 0.2:
            spec["timeZone"] = prng.choice(["Etc/UTC", "Europe/Berlin"])
        self.add("create", resource="cronjobs", object=objects.cron_job("tick", **spec))
        self._there, self._began = True, False

    def choices(self):
        if not self._there:
            return [(self.create, 1)]
        return [
            (self.due, 8),
            (self.many_missed, 1),
            (self.suspend, 2),
            (self.policy, 1),
            (self.deadline, 1),
            (self.limits, 2),
            (self.template_of_jobs, 1),
            (self.delete_job, 1),
            (self.fail_pod, 1),
            (self.by_hand, 1),
            (self.delete, 1),
        ]

    def patch(self, spec, **more):
        self.add("patch", resource="cronjobs", name="tick", kind="merge", patch={"spec": spec}, **more)

    def due(self, days="9 5 *"):
        # A change of the schedule alone only moves the timer; that of the status or of the annotation causes a sync.
        schedule = self._schedule(days)
        if not self._began or days != "9 5 *":
            second = {"subresource": "status", "patch": {"status": {"lastScheduleTime": LONG_AGO}}}
        else:
            second = {"patch": {"metadata": {"annotations": {"example.test/due": schedule}}}}
        self._began = True
        self.add("patches", resource="cronjobs", name="tick", kind="merge",
                 patches=[{"patch": {"spec": {"schedule": schedule}}}, second])

    def many_missed(self):
        self.due("* * *")

    def suspend(self):
        self.patch({"suspend": self._prng.choice([True, False])})

    def policy(self):
        self.patch({"concurrencyPolicy": self._prng.choice(["Allow", "Forbid", "Replace"])})

    def deadline(self):
        self.patch({"startingDeadlineSeconds": self._prng.choice([60, 10**9, None])})

    def limits(self):
        self.patch({"successfulJobsHistoryLimit": self._prng.randint(0, 2),
                    "failedJobsHistoryLimit": self._prng.randint(0, 2)})

    def template_of_jobs(self):
        self.patch({"jobTemplate": {"spec": {"backoffLimit": 3, "template": {"metadata": {"labels": {"new": "yes"}}}}}})

    def delete_job(self):
        self.add("delete-first", resource="jobs", selector="of=tick", propagation=self._prng.choice(PROPAGATIONS))

    def fail_pod(self):
        self.add("pods", act="fail", selector="cron=tick", count=1, by="name", body={"exitCode": 4})

    def by_hand(self):
        """A Job that looks like one of the CronJob's and has no owner."""
        template = objects.template({"by": "hand"}, self.tag())
        template["spec"]["restartPolicy"] = "Never"
        made = objects.job(f"tick-{self._minute}", template)
        made["metadata"]["labels"] = {"of": "tick"}
        self.add("create", resource="jobs", object=made)

    def delete(self):
        self.add("delete", resource="cronjobs", name="tick", propagation=self._prng.choice(PROPAGATIONS))
        self._there = False
