"""kubectl scale of Deployments, ReplicaSets and ReplicationControllers; the order of deletion."""

from base import WorkloadCase, deployment, names, replica_set, replication_controller, rolling

COST = "controller.kubernetes.io/pod-deletion-cost"


class Scale(WorkloadCase):
    def test_each_kind_up_and_down(self):
        kinds = {
            "deployment": (deployment("d"), "deployment.apps/d"),
            "rs": (replica_set("s"), "replicaset.apps/s"),
            "rc": (replication_controller("c"), "replicationcontroller/c"),
        }
        for kind, (item, shown) in kinds.items():
            with self.subTest(kind):
                name = item["metadata"]["name"]
                self.k("create -f -", stdin=item)
                self.idle()
                self.assertEqual(len(self.pods(f"app={name}")), 3)
                for replicas in (7, 2, 0):
                    self.assertEqual(self.k(f"scale {kind} {name} --replicas={replicas}").out, f"{shown} scaled\n")
                    self.idle()
                    self.assertEqual(len(self.pods(f"app={name}")), replicas)
                    status = self.stored(name, item["kind"].lower() + "s")["status"]
                    self.assertEqual((status.get("replicas", 0), status.get("readyReplicas", 0)), (replicas, replicas))

    def test_only_from_the_current_size(self):
        self.roll_out(deployment())
        self.k_fails("scale deployment web --current-replicas=2 --replicas=5", "Expected replicas to be 2, was 3")
        self.idle()
        self.assertEqual(len(self.pods()), 3)
        self.k("scale deployment web --current-replicas=3 --replicas=5")
        self.idle()
        self.assertEqual(len(self.pods()), 5)

    def test_scale_waits_when_given_a_timeout(self):
        self.roll_out(deployment())
        self.k("scale deployment web --replicas=4 --timeout=20s")
        self.assertEqual(len(self.pods()), 4)

    def test_in_mid_rollout_both_revisions_grow_in_proportion(self):
        """The example of Kubernetes' documentation of Deployments, 'Proportional scaling'."""
        self.roll_out(deployment(replicas=10, strategy=rolling(3, 2)))
        never = {"spec": {"template": {"metadata": {"annotations": {"terrarium.dev/never-ready": "true"}}}}}
        self.rest.patch(self.path_of("deployments", "web"), never).expect()
        self.settle()
        self.assertEqual(self.sizes(), {1: 8, 2: 5})
        self.k("scale deployment web --replicas=15")
        self.settle()
        self.assertEqual(self.sizes(), {1: 11, 2: 7})

    def test_a_replica_set_of_a_deployment_is_put_right(self):
        self.roll_out(deployment())
        ((revision, owned),) = self.revisions().items()
        self.k(f"scale rs {owned['metadata']['name']} --replicas=8")
        self.idle()
        self.assertEqual((self.sizes(), len(self.pods())), ({revision: 3}, 3))

    def test_surplus_pods_leave_the_status_before_they_stop(self):
        self.roll_out(replica_set(replicas=4, script={"stop-after": "20s"}), "replicasets")
        self.k("scale rs web --replicas=1")
        self.settle()
        self.assertEqual(self.stored("web", "replicasets")["status"]["replicas"], 1)
        self.assertEqual(len(self.pods(live_only=False)), 4)
        self.advance("20s")
        self.assertEqual(len(self.pods(live_only=False)), 1)


class DeletionCost(WorkloadCase):
    """KEP-2255: pods with a lower cost are deleted first."""

    def costs(self, **costs):
        """Annotates pods in the order of their names and returns the names."""
        pods = names(self.pods())
        for place, cost in costs.items():
            self.k(["annotate", "pod", pods[int(place.lstrip("p"))], f"{COST}={cost}"])
        self.settle()
        return pods

    def test_the_cheapest_pods_go_first(self):
        for kind, item in (("rs", replica_set("s", 5)), ("rc", replication_controller("c", 5))):
            with self.subTest(kind):
                self.ns = self.new_namespace()
                self.k("create -f -", stdin=item)
                self.idle()
                pods = self.costs(p0=10, p2=-7, p4=10)
                self.k(f"scale {kind} {item['metadata']['name']} --replicas=4")
                self.idle()
                self.assertEqual(names(self.pods()), [pods[0], pods[1], pods[3], pods[4]])
                self.k(f"scale {kind} {item['metadata']['name']} --replicas=2")
                self.idle()
                self.assertEqual(names(self.pods()), [pods[0], pods[4]])

    def test_of_a_deployment(self):
        self.roll_out(deployment(replicas=4))
        pods = self.costs(p1=-1)
        self.k("scale deployment web --replicas=3")
        self.idle()
        self.assertEqual(names(self.pods()), sorted(set(pods) - {pods[1]}))

    def test_a_pod_that_is_not_ready_goes_before_a_cheap_one(self):
        self.roll_out(replica_set(replicas=3), "replicasets")
        pods = self.costs(p0=-100, p1=100)
        self.order("hold", pods[1], point="ready").expect()
        self.order("crash", pods[1], container="main", exitCode=1).expect()
        self.run_until("condition=Ready=False", pods[1])
        self.k("scale rs web --replicas=2")
        self.settle()
        self.assertEqual(names(self.pods()), [pods[0], pods[2]])

    def test_a_malformed_number_is_refused(self):
        self.roll_out(replica_set(replicas=1), "replicasets")
        (name,) = names(self.pods())
        for value in ("cheap", "1.5", "2147483648", "+3", "01"):
            with self.subTest(value):
                self.k_fails(
                    ["annotate", "pod", name, f"{COST}={value}"],
                    f'metadata.annotations[{COST}]: Invalid value: "{value}"',
                )

    def test_why_states_which_pods_were_chosen_and_why(self):
        self.roll_out(replica_set(replicas=3), "replicasets")
        pods = self.costs(p1=-5)
        self.k("scale rs web --replicas=2")
        self.idle()
        records = [record for record in self.why("replicasets", "web") if record["action"] == "delete"]
        self.assertEqual([record["name"] for record in records], [pods[1]])
        (record,) = records
        self.assertEqual(record["controller"], "replicaset-controller")
        self.assertEqual(record["owner"], {"resource": "replicasets", "namespace": self.ns, "name": "web"})
        self.assertIn("more live pods than spec.replicas", record["rule"])
        self.assertEqual((record["saw"]["live"], record["saw"]["wanted"]), (3, 2))
        (chosen,) = record["saw"]["chosen"]
        self.assertEqual((chosen["pod"], chosen["deletionCost"], chosen["ready"]), (pods[1], -5, True))
        self.assertEqual(self.why("pods", pods[1])[-1], record)


class DeletionCostSwitchedOff(WorkloadCase):
    flags = ("--clock=virtual", "--feature-gates=PodDeletionCost=false", "--nodes=1")

    def test_the_newest_pod_goes_however_dear(self):
        self.roll_out(replica_set(replicas=2), "replicasets")
        old = names(self.pods())
        self.advance("1h")
        self.k("scale rs web --replicas=3")
        self.idle()
        (new,) = set(names(self.pods())) - set(old)
        self.k(["annotate", "pod", new, f"{COST}=1000"])
        self.k("scale rs web --replicas=2")
        self.idle()
        self.assertEqual(names(self.pods()), old)
