"""Ownership of pods: deletion with and without dependents, adoption, release by a label change."""

from base import IMAGE, WorkloadCase, deployment, labels_of, names, replica_set, replication_controller


def owner_of(item):
    return next((reference["name"] for reference in item["metadata"].get("ownerReferences", [])), None)


class Ownership(WorkloadCase):
    def is_empty(self, *resources):
        return all(not self.list(resource) for resource in resources)

    def test_orphaned_pods_are_adopted_by_a_new_replica_set(self):
        heir = replica_set("heir", selector={"matchLabels": {"app": "web"}})
        heir["spec"]["template"]["metadata"]["labels"] = {"app": "web"}
        for kind, item, resource in (
            ("rs", replica_set(), "replicasets"),
            ("rc", replication_controller(), "replicationcontrollers"),
        ):
            with self.subTest(kind):
                self.ns = self.new_namespace()
                self.roll_out(item, resource)
                pods = names(self.pods())
                self.k(f"delete {kind} web --cascade=orphan --timeout=20s")
                self.idle()
                self.assertTrue(self.is_empty(resource))
                self.assertEqual((names(self.pods()), set(map(owner_of, self.pods()))), (pods, {None}))
                self.k("create -f -", stdin=heir)
                self.idle()
                self.assertEqual((names(self.pods()), set(map(owner_of, self.pods()))), (pods, {"heir"}))

    def test_an_orphaned_replica_set_is_adopted_by_the_same_deployment_again(self):
        self.roll_out(deployment())
        sets, pods = names(self.list("replicasets")), names(self.pods())
        self.k("delete deployment web --cascade=orphan --timeout=20s")
        self.idle()
        self.assertEqual([owner_of(item) for item in self.list("replicasets")], [None])
        self.apply(deployment())
        self.idle()
        self.assertEqual((names(self.list("replicasets")), names(self.pods())), (sets, pods))
        (adopted,) = self.list("replicasets")
        uid = self.stored("web", "deployments")["metadata"]["uid"]
        self.assertEqual([reference["uid"] for reference in adopted["metadata"]["ownerReferences"]], [uid])

    def test_deletion_takes_everything_along(self):
        self.roll_out(deployment())
        self.k(f"set image deployment/web main={IMAGE}:2")
        self.idle()
        self.k("delete deployment web --timeout=20s")
        self.idle()
        self.assertTrue(self.is_empty("deployments", "replicasets", "pods"))

    def test_deletion_in_the_foreground_ends_with_the_deployment(self):
        self.roll_out(deployment(script={"stop-after": "20s"}))
        deleting = self.start("delete deployment web --cascade=foreground --timeout=25s")
        self.wait_until("it is deleted", lambda: "deletionTimestamp" in self.stored("web", "deployments")["metadata"])
        self.settle()
        self.assertEqual(self.pods(), [])
        self.advance("19s")
        self.assertEqual((len(self.list("pods")), len(self.list("replicasets"))), (3, 1))
        self.assertIn("foregroundDeletion", self.stored("web", "deployments")["metadata"]["finalizers"])
        self.advance("1s")
        code, printed = deleting.end()
        self.assertEqual(code, 0, printed)
        self.assertTrue(self.is_empty("deployments", "replicasets", "pods"))

    def test_a_deleted_pod_is_replaced(self):
        self.roll_out(deployment())
        first, *others = names(self.pods())
        self.k(f"delete pod {first} --timeout=20s")
        self.idle()
        self.assertEqual(len(self.pods()), 3)
        self.assertLess(set(others), set(names(self.pods())))

    def test_a_pod_labelled_away_is_replaced_and_lives_on(self):
        self.roll_out(replica_set(), "replicasets")
        away = names(self.pods())[0]
        self.k(f"label pod {away} app=debug --overwrite")
        self.idle()
        self.assertEqual(owner_of(self.stored(away)), None)
        self.assertEqual((len(self.pods("app=web")), len(self.pods("app=debug"))), (3, 1))

        # With its label back, it is one too many: the ReplicaSet adopts it and has three pods again.
        self.k(f"label pod {away} app=web --overwrite")
        self.idle()
        self.assertEqual(len(self.pods()), 3)
        self.assertEqual({owner_of(item) for item in self.pods()}, {"web"})

    def test_a_pod_of_another_owner_is_left_alone(self):
        self.roll_out(replica_set("web"), "replicasets")
        other = replica_set("other", selector={"matchLabels": {"app": "web"}})
        other["spec"]["template"]["metadata"]["labels"] = {"app": "web"}
        self.roll_out(other, "replicasets")
        owners = sorted(owner_of(item) for item in self.pods())
        self.assertEqual(owners, ["other"] * 3 + ["web"] * 3)

    def test_a_failed_pod_is_replaced(self):
        self.roll_out(replica_set(), "replicasets")
        failed = names(self.pods())[0]
        self.order("fail", failed, exitCode=1).expect()
        self.idle()
        self.assertEqual(len(self.pods()), 3)
        self.assertNotIn(failed, names(self.pods()))

    def test_pods_carry_the_hash_of_their_template(self):
        self.roll_out(deployment())
        (owned,) = self.list("replicasets")
        hash_label = labels_of(owned)["pod-template-hash"]
        self.assertEqual(owned["metadata"]["name"], f"web-{hash_label}")
        self.assertEqual(owned["spec"]["selector"]["matchLabels"], {"app": "web", "pod-template-hash": hash_label})
        self.assertEqual({labels_of(item)["pod-template-hash"] for item in self.pods()}, {hash_label})
