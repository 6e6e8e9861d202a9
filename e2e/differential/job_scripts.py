"""Scripts about Jobs."""

import objects
from maker import PROPAGATIONS, Maker

INDEX = "batch.kubernetes.io/job-completion-index"


class Jobs(Maker):
    """One Job of any kind, its pods, and changes by users while it runs.

    Durations of pods end in half seconds, since the controller batches their events for whole seconds: a pod that ends
    at the instant of a sync may be counted by it or by the next.
    """

    def begin(self):
        self.workloads = ["work"]
        self._there = False
        self.create()

    def create(self):
        prng = self._prng
        self._indexed = prng.random() < 0.5
        spec = {"parallelism": prng.choice([1, 2, 3, 4]), "backoffLimit": prng.choice([0, 0, 1, 1, 1, 2])}
        if self._indexed:
            spec["completionMode"] = "Indexed"
        if self._indexed or prng.random() < 0.7:
            spec["completions"] = prng.choice([1, 2, 3, 5])
        self._spec = spec
        restart = "Never"
        if prng.random() < 0.15:
            restart = "OnFailure"
        self._add_policies(spec, restart)
        if prng.random() < 0.2:
            spec["suspend"] = True
        script = self._pod_script()
        self._endless = "run-for" not in script  # only then no pod ends at the deadline
        if self._endless and prng.random() < 0.3:
            spec["activeDeadlineSeconds"] = prng.choice([3, 7])
        if prng.random() < 0.2:
            spec["ttlSecondsAfterFinished"] = prng.choice([0, 3])
        if prng.random() < 0.05:
            spec["managedBy"] = "example.test/other"
        template = objects.template({"job": "work"}, self.tag(), script, prng.choice([None, 3]))
        template["spec"]["restartPolicy"] = restart
        if self._indexed and prng.random() < 0.6 and "activeDeadlineSeconds" not in spec:
            self._endless = False
            self._one_index_fails()
        self.add("create", resource="jobs", object=objects.job("work", template, **spec))
        self._there = True

    def _pod_script(self):
        return self._prng.choice(
            [
                {"run-for": "2500ms"},
                {"run-for": "1500ms"},
                {"run-for": "2500ms", "exit-code": "1"},
                {"run-for": "1500ms", "exit-code": "42"},
                {"run-for": "4500ms", "stop-after": "2s"},
                {"stop-after": "2s", "stop-exit-code": "1"},
                {"ready-delay": "1s"},
                {},
            ]
        )

    def _one_index_fails(self):
        index = self._prng.randrange(self._spec["completions"])
        code = self._prng.choice([0, 1, 42])
        script = {"run-for": "2500ms", "exit-code": code}
        self.add("rule", name=f"index-{len(self._steps)}", selector=f"{INDEX}={index}", script=script)

    def _add_policies(self, spec, restart):
        prng = self._prng
        if self._indexed and prng.random() < 0.35 and restart == "Never":
            spec["backoffLimitPerIndex"] = prng.choice([0, 1])
            if prng.random() < 0.5:
                spec["maxFailedIndexes"] = prng.randint(0, spec["completions"])
            else:
                del spec["backoffLimit"]
        if restart == "Never" and prng.random() < 0.35:
            action = prng.choice(["FailJob", "Ignore", "Count"] + (["FailIndex"] if "backoffLimitPerIndex" in spec else []))
            rule = {"action": action}
            if prng.random() < 0.7:
                rule["onExitCodes"] = {"operator": prng.choice(["In", "NotIn"]), "values": [42]}
            else:
                rule["onPodConditions"] = [{"type": "DisruptionTarget", "status": "True"}]
            if action == "Ignore" and rule.get("onExitCodes"):
                rule["onExitCodes"]["operator"] = "In"
            spec["podFailurePolicy"] = {"rules": [rule]}
        if prng.random() < 0.4:
            spec["podReplacementPolicy"] = "Failed"
            if "podFailurePolicy" not in spec and prng.random() < 0.3:
                spec["podReplacementPolicy"] = "TerminatingOrFailed"
        if self._indexed and prng.random() < 0.3:
            completions = spec["completions"]
            rule = {"succeededIndexes": f"0-{completions - 1}" if completions > 1 else "0"}
            if prng.random() < 0.6:
                rule["succeededCount"] = prng.randint(1, completions)
            spec["successPolicy"] = {"rules": [rule]}

    def choices(self):
        if not self._there:
            return [(self.create, 1)]
        return [
            (self.suspend, 3),
            (self.parallelism, 3),
            (self.completions, 1 if self._indexed else 0),
            (self.delete_pod, 3),
            (self.fail_pod, 3),
            (self.finish_pod, 3),
            (self.evict_by_kubelet, 2),
            (self.orphan_pod, 1),
            (self.bare_pod, 1),
            (self.deadline, 2 if self._endless else 0),
            (self.ttl, 1),
            (self.delete, 1),
        ]

    def patch(self, spec):
        self.add("patch", resource="jobs", name="work", patch={"spec": spec})

    def suspend(self):
        self.patch({"suspend": self._prng.random() < 0.5})

    def parallelism(self):
        self.patch({"parallelism": self._prng.choice([0, 1, 2, 4])})

    def completions(self):
        size = self._prng.choice([1, 2, 4])
        self.patch({"completions": size, "parallelism": size})

    def delete_pod(self):
        self.add("pods", act="delete", selector="job=work", count=1)

    def fail_pod(self):
        self.add("pods", act="crash", selector="job=work", count=1, body={"exitCode": self._prng.choice([1, 42])})

    def finish_pod(self):
        self.add("pods", act="crash", selector="job=work", count=self._prng.choice([1, 2]), body={"exitCode": 0})

    def evict_by_kubelet(self):
        self.add("pods", act="evict", selector="job=work", count=1)

    def orphan_pod(self):
        self.add("pods", act="patch", selector="job=work", patch={"metadata": {"labels": {"job-name": "no", "job": "no"}}})

    def bare_pod(self):
        self.add("create", resource="pods", object=objects.pod("bare", {"job": "work"}))

    def deadline(self):
        self.patch({"activeDeadlineSeconds": 2})

    def ttl(self):
        self.patch({"ttlSecondsAfterFinished": self._prng.choice([0, 2])})

    def delete(self):
        self.add("delete", resource="jobs", name="work", propagation=self._prng.choice(PROPAGATIONS))
        self._there = False


class Replacements(Jobs):
    """A Job whose terminating pods stay until they are released, so that both sides are compared while they terminate.

    Jobs of the other scripts are compared when their pods are gone, and podReplacementPolicy decides nothing any more.
    """

    def create(self):
        prng = self._prng
        size = prng.choice([2, 3, 4])
        spec = {"parallelism": size, "completions": size, "backoffLimit": 6}
        self._indexed, self._endless = prng.random() < 0.5, True
        if self._indexed:
            spec["completionMode"] = "Indexed"
        if policy := prng.choice(["Failed", "TerminatingOrFailed", None]):
            spec["podReplacementPolicy"] = policy
        if policy != "TerminatingOrFailed" and prng.random() < 0.3:
            rule = {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
            spec["podFailurePolicy"] = {"rules": [rule]}
        if prng.random() < 0.2:
            spec["ttlSecondsAfterFinished"] = 3
        template = objects.template({"job": "work"}, self.tag(), {"hold": "terminating"}, prng.choice([None, 3]))
        template["spec"]["restartPolicy"] = "Never"
        self.add("create", resource="jobs", object=objects.job("work", template, **spec))
        self._there = True
        self.delete_pod()

    def choices(self):
        if not self._there:
            return [(self.create, 1)]
        return [
            (self.delete_pod, 3),
            (self.release, 3),
            (self.parallelism, 2),
            (self.suspend, 2),
            (self.fail_pod, 1),
            (self.evict_by_kubelet, 1),
            (self.deadline, 1),
            (self.delete, 1),
        ]

    def release(self):
        self.add("release")
