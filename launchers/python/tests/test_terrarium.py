"""The launcher itself, with nothing but the standard library and pytest."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from terrarium import ControlError, Terrarium, TerrariumError

FOLDER = pathlib.Path(__file__).resolve().parent.parent


def send(method, url, body=None):
    request = urllib.request.Request(
        url, None if body is None else json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read())


def make_pod(cluster, name, **annotations):
    pod = {
        "metadata": {
            "name": name,
            "annotations": {f"terrarium.dev/{key.replace('_', '-')}": value for key, value in annotations.items()},
        },
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    return send("POST", f"{cluster.url}/api/v1/namespaces/default/pods", pod)


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_server_ends_with_its_context():
    with Terrarium(clock="auto", nodes=1, seed=7, feature_gates={"DownscalePodPicker": True}) as server:
        assert server.clock()["mode"] == "auto"
        assert server.feature_gates("kubelet")["DownscalePodPicker"]
        assert server.url in pathlib.Path(server.kubeconfig).read_text()
        assert len(send("GET", f"{server.url}/api/v1/nodes")["items"]) == 1
        folder = server.folder
    assert is_gone(server.pid)
    assert not folder.exists()


def test_a_server_ends_when_its_process_is_killed():
    program = "import terrarium, time; print(terrarium.Terrarium().pid, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=FOLDER) as process:
        pid = int(process.stdout.readline())
        assert not is_gone(pid)
        process.send_signal(signal.SIGKILL)
    give_up = time.monotonic() + 20
    while not is_gone(pid):
        assert time.monotonic() < give_up, f"process {pid} is still there"
        time.sleep(0.005)


def test_a_server_that_does_not_start_reports_why(monkeypatch, tmp_path):
    with pytest.raises(TerrariumError, match=r"(?s)ended with 2 before it was ready.*--feature-gates.*Bogus"):
        Terrarium(feature_gates={"Bogus": True})
    with pytest.raises(TerrariumError, match="/nowhere/terrarium is not a program"):
        Terrarium("/nowhere/terrarium")
    monkeypatch.delenv("TERRARIUM")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TerrariumError, match="TERRARIUM"):
        Terrarium()


def test_a_server_that_takes_too_long_is_given_up(tmp_path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\necho thinking >&2\nexec cat\n")
    slow.chmod(0o755)
    with pytest.raises(TerrariumError, match="not ready after 0.3 s\nthinking"):
        Terrarium(slow, start_timeout=0.3)


def test_the_clock_is_moved(terrarium):
    make_pod(terrarium, "web", start_delay="40s")
    assert terrarium.run_until("pods", "web", "condition=Ready", limit="1m")["advanced"] == "40s"
    terrarium.run_until_idle()
    assert terrarium.advance("1h30s")["advanced"] == "1h0m30s"
    assert terrarium.advance(1.5)["advanced"] == "1.5s"
    with pytest.raises(TerrariumError, match="pods default/web, delete: the clock stopped with deadline after 1m0s"):
        terrarium.run_until("pods", "web", "delete", limit="1m")
    terrarium.set_clock("real")
    with pytest.raises(ControlError, match="not virtual") as refused:
        terrarium.advance("1s")
    assert refused.value.code == 400


@pytest.mark.terrarium(nodes=1)
def test_pods_nodes_and_rules(terrarium):
    terrarium.add_rule("slow", {"start-delay": "10s"}, namespace="default")
    make_pod(terrarium, "web")
    assert terrarium.run_until("pods", "web", "condition=Ready")["advanced"] == "10s"
    terrarium.delete_rule("slow")
    terrarium.hold_pod("web", "terminating")
    send("DELETE", f"{terrarium.url}/api/v1/namespaces/default/pods/web")
    terrarium.advance("1h")
    terrarium.release_pod("web", outcome={"exitCode": 0})
    terrarium.run_until("pods", "web", "delete", limit="1m")

    make_pod(terrarium, "two")
    terrarium.run_until("pods", "two", "condition=Ready")
    terrarium.crash_container("two", "c", 3)
    terrarium.run_until("pods", "two", "jsonpath={.status.containerStatuses[0].restartCount}=1", limit="1m")
    terrarium.fail_pod("two")
    terrarium.run_until("pods", "two", "jsonpath={.status.phase}=Failed", limit="1m")
    with pytest.raises(ControlError) as refused:
        terrarium.evict_pod("two")
    assert refused.value.code == 409

    terrarium.fail_node("node-0")
    terrarium.run_until("nodes", "node-0", "condition=Ready=Unknown", namespace=None, limit="5m")
    terrarium.recover_node("node-0")
    terrarium.run_until("nodes", "node-0", "condition=Ready", namespace=None, limit="5m")
    terrarium.compact()


def test_why_returns_what_the_controllers_did(terrarium):
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    send("POST", f"{terrarium.url}/apis/apps/v1/namespaces/default/replicasets", {"metadata": {"name": "web"}, "spec": spec})
    terrarium.run_until_idle()
    records = terrarium.why("replicasets", "web")
    assert [(record["action"], record["resource"]) for record in records] == [("create", "pods")] * 2
    everything = terrarium.why()
    assert [record for record in everything if record["resource"] == "pods"] == records
    assert "kube-root-ca.crt" in [record["name"] for record in everything]


@pytest.mark.terrarium(name="mine", clock="auto", kubelet_feature_gates={"PodDeletionCost": False})
def test_a_mark_sets_the_settings_of_the_cluster(terrarium, terrarium_server):
    assert terrarium.name == "mine"
    assert terrarium_server.clusters() == ["mine"]
    assert terrarium.clock()["mode"] == "auto"
    assert not terrarium.feature_gates("kubelet")["PodDeletionCost"]
    assert terrarium.feature_gates("apiserver")["PodDeletionCost"]
    with pytest.raises(ControlError) as refused:
        terrarium_server.cluster("mine")
    assert refused.value.code == 409


@pytest.mark.parametrize("round", range(3))
def test_each_test_has_its_own_cluster(terrarium, terrarium_server, round):
    assert terrarium_server.clusters() == [terrarium.name]
    make_pod(terrarium, "web")  # which would be there already
    terrarium.run_until("pods", "web", "condition=Ready")


def test_components_are_stopped_and_their_gates_switched(terrarium):
    terrarium.set_feature_gates("controller-manager", {"PodDeletionCost": False})
    assert not terrarium.feature_gates("controller-manager")["PodDeletionCost"]
    terrarium.stop_component("scheduler")
    make_pod(terrarium, "web")
    with pytest.raises(TerrariumError, match="deadline"):
        terrarium.run_until("pods", "web", "condition=Ready", limit="1m")
    terrarium.start_component("scheduler")
    terrarium.run_until("pods", "web", "condition=Ready", limit="1m")
    terrarium.crash_component("kubelet")
    terrarium.start_component("kubelet")
    terrarium.restart_component("apiserver")
