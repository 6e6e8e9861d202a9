"""The changes of Kubernetes' module by which its integration tests start Terrarium and run Terrarium's controllers.

The tests themselves stay as they are. `overlay/` replaces the packages that start servers for them; INSERTIONS go into
the controllers: text after the one place that a pattern matches.
"""

import dataclasses
import json
import re

SHIM = "k8s.io/kubernetes/test/terrarium"

# Files of an overlaid folder that stay: the table of resources that tests create, the check that a client sends CBOR.
KEPT = {"test/integration/etcd": ["data.go"], "test/integration/framework": ["cbor.go"]}

# It starts a server inside the test binary; without it a test links no apiserver.
REMOVED_FROM_APIEXTENSIONS = ["test/integration/fixtures/server.go"]


class EditFailed(Exception):
    """A pattern does not match exactly one place of a file: the module is of another version."""


@dataclasses.dataclass
class Insertion:
    path: str
    after: str
    text: str


def _handover(folder, file, receiver, client, controller, speed="1"):
    """Insertion at the start of a controller's Run: Terrarium's controller runs in its place."""
    call = f"terrarium.Run(ctx, {client}, {controller}, {speed})"
    return Insertion(
        f"pkg/controller/{folder}/{file}",
        rf"\nfunc \({re.escape(receiver)}\) Run\(.*\{{\n",
        f"\tif {call} {{\n\t\treturn\n\t}}\n",
    )


JOB = "pkg/controller/job/job_controller.go"
GARBAGE_COLLECTOR = "pkg/controller/garbagecollector/garbagecollector.go"

INSERTIONS = [
    _handover("deployment", "deployment_controller.go", "dc *DeploymentController", "dc.client",
              '"deployment-controller"'),
    # One type is the controller of ReplicaSets and of ReplicationControllers.
    _handover("replicaset", "replica_set.go", "rsc *ReplicaSetController", "rsc.kubeClient",
              'strings.ToLower(rsc.Kind)+"-controller"'),
    _handover("disruption", "disruption.go", "dc *DisruptionController", "dc.kubeClient", '"disruption-controller"',
              "(2 * time.Minute).Seconds()/dc.stalePodDisruptionTimeout.Seconds()"),
    _handover("podgc", "gc_controller.go", "gcc *PodGCController", "gcc.kubeClient",
              '"pod-garbage-collector-controller"', "20/gcc.gcCheckPeriod.Seconds()"),
    _handover("statefulset", "stateful_set.go", "ssc *StatefulSetController", "ssc.kubeClient",
              '"statefulset-controller"'),
    _handover("daemon", "daemon_controller.go", "dsc *DaemonSetsController", "dsc.kubeClient", '"daemonset-controller"'),
    # The test waits for the next minute.
    _handover("cronjob", "cronjob_controllerv2.go", "jm *ControllerV2", "jm.kubeClient", '"cronjob-controller"', "5"),
    # Tests compute the names of revisions.
    Insertion("pkg/controller/controller_utils.go", r"\nfunc ComputeHash\(.*\{\n", """\
	if terrarium.Replaces("daemonset-controller") {
		return terrarium.TemplateHash(template, collisionCount)
	}
"""),
    _handover("namespace", "namespace_controller.go", "nm *NamespaceController", "nil", '"namespace-controller"'),
    _handover("resourcequota", "resource_quota_controller.go", "rq *Controller", "nil",
              '"resourcequota-controller"'),
    _handover("endpoint", "endpoints_controller.go", "e *Controller", "e.client", '"endpoints-controller"'),
    _handover("endpointslice", "endpointslice_controller.go", "c *Controller", "c.client",
              '"endpointslice-controller"'),
    _handover("endpointslicemirroring", "endpointslicemirroring_controller.go", "c *Controller", "c.client",
              '"endpointslice-mirroring-controller"'),
    _handover("serviceaccount", "serviceaccounts_controller.go", "c *ServiceAccountsController", "c.client",
              '"serviceaccount-controller"'),
    _handover("serviceaccount", "tokens_controller.go", "e *TokensController", "e.client",
              '"serviceaccount-token-controller"'),
    # Tests shorten the back-off of failed pods from 10s. More than ten times the speed would make the second for which
    # pod events are batched too short to see. At 2s tests compare the back-off with the times of pods: they get the
    # real one instead.
    Insertion(JOB, r"\nfunc \(jm \*Controller\) Run\(.*\{\n", """\
	speed := min(10, 10/DefaultJobPodFailureBackOff.Seconds())
	if DefaultJobPodFailureBackOff == 2*time.Second && terrarium.Replaces("job-controller") {
		DefaultJobPodFailureBackOff, speed = 10*time.Second, 1
	}
	if terrarium.Run(ctx, jm.kubeClient, "job-controller", speed) {
		return
	}
"""),
    Insertion(JOB, r"\nfunc NewController\([^{]*\{\n", '\tterrarium.AwaitStop("job-controller")\n'),
    # The handlers of pod events count in metrics, though the controller does not run.
    *(
        Insertion(JOB, rf"\nfunc \(jm \*Controller\) {verb}{kind}\(.*\{{\n",
                  '\tif terrarium.Replaces("job-controller") {\n\t\treturn\n\t}\n')
        for verb in ("add", "update", "delete")
        for kind in ("Pod", "Job")
    ),
    # The graph of owners stays, since tests read it; its workers do not run.
    Insertion(GARBAGE_COLLECTOR, r'\n\tlogger.Info\("Proceeding to collect garbage"\)\n', """\
	if terrarium.Run(ctx, gc.kubeClient, "garbage-collector-controller", 1) {
		return
	}
"""),
    # Owners that were never observed stay in a graph without workers.
    Insertion(GARBAGE_COLLECTOR, r"\nfunc \(gc \*GarbageCollector\) GraphHasUID\(.*\{\n", """\
	if terrarium.Replaces("garbage-collector-controller") {
		n, ok := gc.dependencyGraphBuilder.uidToNode.Read(u)
		return ok && n.isObserved()
	}
"""),
]


def _inserted(text, insertion):
    places = list(re.finditer(insertion.after, text))
    if len(places) != 1:
        raise EditFailed(f"{insertion.path}: {len(places)} places match {insertion.after!r}")
    return text[: places[0].end()] + insertion.text + text[places[0].end() :]


def _edited_files(copy):
    """{path inside the module: text} of the files that get insertions."""
    texts = {}
    for insertion in INSERTIONS:
        text = texts.get(insertion.path) or _inserted(
            (copy / insertion.path).read_text(), Insertion(insertion.path, r"\nimport \(\n", f'\t"{SHIM}"\n')
        )
        texts[insertion.path] = _inserted(text, insertion)
    return texts


def write_overlay(copy, overlay, place):
    """Writes the edited files and the file for Go's -overlay into `place`; returns the path of the latter."""
    replaced = {}  # path in the copy: path of the text that Go reads instead; empty if the file is removed
    for path, text in _edited_files(copy).items():
        edited = place / "edited" / path
        edited.parent.mkdir(parents=True, exist_ok=True)
        edited.write_text(text)
        replaced[copy / path] = edited
    for folder in sorted({file.parent for file in overlay.rglob("*.go")}):
        inside = folder.relative_to(overlay)
        removed = [file for file in (copy / inside).glob("*.go") if file.name not in KEPT.get(str(inside), [])]
        replaced |= {file: "" for file in removed}
        replaced |= {copy / inside / file.name: file for file in folder.glob("*.go")}
    replaced |= {copy.parent / "apiextensions-apiserver" / file: "" for file in REMOVED_FROM_APIEXTENSIONS}
    written = place / "overlay.json"
    written.write_text(json.dumps({"Replace": {str(path): str(text) for path, text in replaced.items()}}))
    return written
