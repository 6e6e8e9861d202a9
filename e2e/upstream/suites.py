"""The suites of Kubernetes' test/integration that run here, and the Terrarium controllers that each one drives."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    # Controllers that Terrarium runs when the test runs Kubernetes' own. Without any, the tests are about the apiserver.
    controllers: str = ""
    # A quick test that fails unless a controller works: the check that the suite notices when none does.
    needs_controller: str = ""
    # Other controllers for single tests.
    of_tests: dict = dataclasses.field(default_factory=dict)
    # Tests that rely on which of two comes first, the controller's write or the test's next one: "test" or "controller".
    first: dict = dataclasses.field(default_factory=dict)
    # Tests that need a slower server clock than others.
    max_speed: dict = dataclasses.field(default_factory=dict)
    # Listed tests that never end where they fail, and the seconds that they get.
    max_seconds: dict = dataclasses.field(default_factory=dict)
    # Its folder below test/integration, if that is not the name.
    folder: str = ""

    def path(self):
        return f"test/integration/{self.folder or self.name}"

    def controller_lists(self):
        """What the shim reads from TERRARIUM_CONTROLLERS."""
        return {"": self.controllers, **self.of_tests}


SUITES = [
    Suite(
        "deployment",
        "deployment-controller,replicaset-controller",
        "TestNewDeployment",
        # It reads the spec of the new ReplicaSet once and waits for a status that agrees with it. The controller may
        # resize the ReplicaSet in between.
        first={"TestScaledRolloutDeployment": "controller"},
    ),
    Suite("replicaset", "replicaset-controller", "TestSpecReplicasChange"),
    Suite("replicationcontroller", "replicationcontroller-controller", "TestSpecReplicasChange"),
    Suite("statefulset", "statefulset-controller", "TestSpecReplicasChange"),
    Suite("daemonset", "daemonset-controller", "TestOneNodeDaemonLaunchesPod"),
    Suite("cronjob", "cronjob-controller,job-controller", "TestCronJobLaunchesPodAndCleansUp"),
    Suite(
        "job",
        "job-controller",
        "TestSuspendJobWithZeroCompletions",
        {"TestOrphanPodsFinalizersClearedWithGC": "job-controller,garbage-collector-controller"},
        first={
            # They update a Job that they have just created and do not retry after a conflict.
            "TestMutablePodResourcesForSuspendedJobsNotYetStarted": "test",
            "TestMutableSchedulingDirectivesForSuspendedJobsNotYetStarted": "test",
            # It suspends a Job and deletes the pods, which the controller must have deleted before.
            "TestMutablePodResourcesWithPodReplacementPolicyFailed": "controller",
        },
        max_speed={
            # One of its subtests, with the gate off, deletes both pods and expects `active: 2` still. That holds until the
            # controller syncs the Job, a second later because it batches pod events; Kubernetes' own does the same.
            # At ten times the speed the test has 100 ms for five requests.
            "TestJobPodReplacementPolicy": 2,
        },
    ),
    Suite("garbagecollector", "garbage-collector-controller", "TestCascadingDeletion"),
    Suite("evictions", "disruption-controller", "TestConcurrentEvictionRequests"),
    Suite("disruption", "disruption-controller", "TestStalePodDisruption"),
    Suite("podgc", "pod-garbage-collector-controller", "TestPodGcOrphanedPodsWithFinalizer"),
    Suite("namespace", "namespace-controller", "TestNamespaceCondition"),
    Suite("quota", "replicationcontroller-controller,resourcequota-controller", "TestQuota"),
    Suite("endpoints", "endpoints-controller", "TestEndpointWithTerminatingPod"),
    Suite(
        "endpointslice",
        "endpoints-controller,endpointslice-controller",
        "TestEndpointSliceTerminating",
        {
            "TestEndpointSliceMirroring": "endpoints-controller,endpointslice-controller,"
                                          "endpointslice-mirroring-controller",
            "TestEndpointSliceMirroringUpdates": "endpointslice-mirroring-controller",
            "TestEndpointSliceMirroringSelectorTransition": "endpointslice-mirroring-controller",
            "TestEndpointSliceTerminating": "endpointslice-controller",
        },
    ),
    Suite(
        "serviceaccount",
        "serviceaccount-controller,serviceaccount-token-controller",
        "TestServiceAccountAutoCreate",
        # A goroutine that fails does not report to the WaitGroup that the test waits for.
        max_seconds={"TestLegacyServiceAccountTokenTracking": 40},
    ),
    Suite("dryrun"),
    Suite("events"),
    Suite("scale"),
    Suite("configmap"),
    Suite("secrets"),
    Suite("apply", folder="apiserver/apply"),
]

# The longest test, about 54 s beside others: it starts first, so that the run does not wait for it alone.
LONGEST = ("job", "TestJobPodReplacementPolicy")

# A listed test and the gate that it switches and Terrarium lacks: the check that the shim reports such gates.
LACKED_GATE = ("job", "TestUpdateJobPodResources", "MutablePodResourcesForSuspendedJobs")
