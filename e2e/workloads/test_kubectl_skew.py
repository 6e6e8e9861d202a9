"""KEP-3973, "kubectl Skew": `rollout undo` of a kubectl that does not know one of the controller's annotations."""

from base import BOTH_GATES, IMAGE, WorkloadCase, container_image, deployment, rolling

BEFORE = "deployment.kubernetes.io/replicaset-replicas-before-scale"


class KubectlSkew(WorkloadCase):
    flags = ("--clock=virtual", BOTH_GATES)

    def annotation(self, item):
        return item["metadata"].get("annotations", {}).get(BEFORE)

    def begin_a_partial_scale(self):
        """Revision 1 is left with the annotation: of the pods it is to have, terminating ones still take the place."""
        self.hold_terminating()
        item = deployment(replicas=10, strategy=rolling(3, 2), podReplacementPolicy="TerminationComplete")
        self.roll_out(item)
        never = {"annotations": {"terrarium.dev/never-ready": "true"}}
        self.rest.patch(self.path_of("deployments", "web"), {"spec": {"template": {"metadata": never}}}).expect()
        self.settle()
        self.assertEqual(self.sizes(), {1: 8, 2: 3})
        self.k("scale deployment web --replicas=15")
        self.settle()
        self.assertEqual(self.sizes(), {1: 12, 2: 4})
        self.assertEqual({n: self.annotation(item) for n, item in self.revisions().items()}, {1: "8", 2: None})

    def test_undo_copies_the_annotation_and_the_controller_does_not(self):
        self.begin_a_partial_scale()
        sets, pods = self.record("replicasets"), self.record("pods")
        first = self.revisions()[1]["metadata"]["name"]
        self.k("rollout undo deployment/web")
        self.assertEqual(self.annotation(self.stored("web", "deployments")), "8", "kubectl has learnt the annotation")
        # A value that the controller would not write: it shows wherever it is copied to.
        self.k(f"annotate deployment web {BEFORE}=77 --overwrite")
        self.settle()
        self.release_all()
        self.assertEqual(self.sizes(), {3: 15})
        self.assertEqual({self.annotation(item) for item in self.list("replicasets")}, {None})

        self.k(f"set image deployment/web main={IMAGE}:2")
        self.settle()
        self.release_all()
        self.assertEqual(self.sizes(), {4: 15})
        self.assertEqual({container_image(item) for item in self.pods()}, {f"{IMAGE}:2"})
        self.assertEqual(self.annotation(self.stored("web", "deployments")), "77")

        seen = {(name, self.annotation(item)) for state in sets.states() for name, item in state.items()}
        self.assertEqual({value for name, value in seen if name == first}, {"8", None})
        self.assertEqual({value for name, value in seen if name != first}, {None})
        self.assertEqual(pods.most_pods(), 18)
