"""Claims, volumes and the fake driver with kubectl."""

from base import WorkloadCase, deployment, names


def claim(name="data", size="2Gi", **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}}


def storage_class(name, parameters=None, **fields):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": "disk.example.com", "parameters": parameters or {}, "allowVolumeExpansion": True, **fields}


class Volumes(WorkloadCase):
    def make_class(self, name, **arguments):
        self.apply(storage_class(name, **arguments))
        self.addCleanup(self.k, f"delete storageclass {name} --ignore-not-found")

    def claim_row(self, name="data"):
        _, rows = self.rows("get pvc")
        return next(row for row in rows if row["NAME"] == name)

    def test_the_default_class_and_the_columns(self):
        _, classes = self.rows("get storageclass")
        standard = next(row for row in classes if row["NAME"].startswith("standard"))
        self.assertEqual(standard["NAME"], "standard (default)")
        self.assertEqual(standard["PROVISIONER"], "terrarium.dev/volumes")
        self.apply(claim())
        self.idle()
        row = self.claim_row()
        self.assertEqual((row["STATUS"], row["CAPACITY"], row["ACCESS MODES"], row["STORAGECLASS"]),
                         ("Bound", "2Gi", "RWO", "standard"))
        _, volumes = self.rows(f"get pv {row['VOLUME']}")
        self.assertEqual((volumes[0]["RECLAIM POLICY"], volumes[0]["STATUS"], volumes[0]["CLAIM"]),
                         ("Delete", "Bound", f"{self.ns}/data"))
        described = self.k("describe pvc data").out
        self.assertIn("Successfully provisioned volume " + row["VOLUME"], described)
        self.k("delete pvc data --wait=false")
        self.idle()
        self.k_fails(f"get pv {row['VOLUME']}", "not found")

    def test_a_slow_driver(self):
        self.make_class("slow", parameters={"terrarium.dev/provision-delay": "1m"})
        self.apply(claim(storageClassName="slow"))
        self.advance("30s")
        self.assertEqual(self.claim_row()["STATUS"], "Pending")
        self.assertIn("ExternalProvisioning", [reason for reason, _ in self.events("data")])
        self.advance("31s")
        self.assertEqual(self.claim_row()["STATUS"], "Bound")

    def test_expansion(self):
        self.apply(claim())
        self.idle()
        grow = {"spec": {"resources": {"requests": {"storage": "5Gi"}}}}
        self.k(["patch", "pvc", "data", "--patch-file=/dev/stdin"], stdin=grow)
        self.idle()
        self.assertEqual(self.claim_row()["CAPACITY"], "5Gi")
        self.make_class("fixed", allowVolumeExpansion=False)
        self.apply(claim("rigid", storageClassName="fixed"))
        self.idle()
        self.k_fails(["patch", "pvc", "rigid", "--patch-file=/dev/stdin"],
                     "the storageclass that provisions the pvc must support resize", stdin=grow)

    def test_a_stateful_set_gets_bound_claims(self):
        made = deployment("db", 2, serviceName="db", volumeClaimTemplates=[claim()])
        made["kind"] = "StatefulSet"
        self.roll_out(made, "statefulsets")
        claims = self.list("persistentvolumeclaims")
        self.assertEqual(names(claims), ["data-db-0", "data-db-1"])
        self.assertEqual({item["status"]["phase"] for item in claims}, {"Bound"})
        self.k("delete pvc data-db-0 --wait=false")
        self.idle()
        self.assertEqual(self.claim_row("data-db-0")["STATUS"], "Terminating")
        self.k("delete statefulset db --wait=false")
        self.idle()
        self.assertEqual(names(self.list("persistentvolumeclaims")), ["data-db-1"])
