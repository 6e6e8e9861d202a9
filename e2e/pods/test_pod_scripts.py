"""Scripted pods as seen by kubectl."""

import datetime

from base import ControlPlaneCase, condition, pod, seconds_between


def container(item, name="main"):
    statuses = item["status"].get("initContainerStatuses", []) + item["status"]["containerStatuses"]
    return next(status for status in statuses if status["name"] == name)


class Lives(ControlPlaneCase):
    def test_a_pod_without_a_script_runs_until_it_is_deleted(self):
        self.assertEqual(self.k("apply -f -", stdin=pod("web")).out, "pod/web created\n")
        self.run_until("condition=Ready", "web", limit="0s")
        self.assertEqual(self.k("get pod web --no-headers").out.split()[:4], ["web", "1/1", "Running", "0"])
        self.advance("10m")
        self.assertEqual(self.status_column("web"), "Running")
        # The clock stands still, and the pod is deleted nevertheless: it stops immediately.
        self.k("delete pod web --timeout=20s")
        self.assertTrue(self.is_gone("web"))

    def test_start_and_ready_delay(self):
        self.make(pod("web", script={"start-delay": "10s", "ready-delay": "5s"}))
        self.settle()
        self.assertEqual(self.status_column("web"), "ContainerCreating")
        self.advance("10s")
        self.assertEqual(self.k("get pod web --no-headers").out.split()[1:3], ["0/1", "Running"])
        self.advance("5s")
        self.assertEqual(self.k("get pod web --no-headers").out.split()[1:3], ["1/1", "Running"])

    def test_logs(self):
        two = pod("web", script={"log": "hello\nworld\n", "log.side": "from the side\n"})
        two["spec"]["containers"].append({"name": "side", "image": "example.test/side:1"})
        self.running(two)
        self.assertEqual(self.k("logs web -c main").out, "hello\nworld\n")
        self.assertEqual(self.k("logs web -c side").out, "from the side\n")
        # In any order: kubectl goes through a map.
        self.assertEqual(sorted(self.k("logs web --all-containers").lines), ["from the side", "hello", "world"])
        self.assertEqual(self.k("logs web -c main --tail=1").out, "world\n")
        self.k_fails("logs web -c nobody", "container nobody is not valid for pod web")

    def test_logs_of_a_container_that_waits(self):
        self.make(pod("web", script={"start-delay": "1h", "log": "hello\n"}))
        self.settle()
        self.k_fails("logs web", 'container "main" in pod "web" is waiting to start: ContainerCreating')

    def test_a_followed_log_gets_lines_as_time_passes(self):
        self.running(pod("web", script={"log": "tick\n", "log-every": "10s", "run-for": "25s", "exit-code": "0"}))
        follower = self.start("logs web -f --timestamps")
        start = follower.line_with("tick").split()[0]
        self.assertRegex(start, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$")
        self.advance("10s")
        self.assertGreater(follower.line_with("tick").split()[0], start)
        self.advance("10s")
        follower.line_with("tick")
        self.advance("5s")
        self.assertEqual(follower.end()[0], 0)

    def test_options_of_logs(self):
        self.running(pod("web", script={"log": "tick\n", "log-every": "10s", "run-for": "35s"}))
        self.advance("30s")
        self.assertEqual(self.k("logs web").out, "tick\n" * 4)
        self.assertEqual(self.k("logs web --since=15s").out, "tick\n" * 2)
        self.assertEqual(self.k("logs web --tail=3 --limit-bytes=7").out, "tick\nti")
        since = (self.now() - datetime.timedelta(seconds=11)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.assertEqual(self.k(f"logs web --since-time={since}").out, "tick\n" * 2)
        self.k_fails("logs web --previous", 'previous terminated container "main" in pod "web" not found')
        self.advance("6s")
        self.assertEqual(self.k("logs web").out, "tick\n")
        self.assertEqual(self.k("logs web --previous").out, "tick\n" * 4)

    def test_requests_for_containers_report_that_there_is_none(self):
        self.running(pod("web"))
        why = "is not supported: Terrarium simulates pods and runs no containers"
        self.k_fails("exec web -- ls", f'executing a command in container "main" of pod "web" {why}')
        self.k_fails("attach web", f'attaching to container "main" of pod "web" {why}')
        self.k_fails("port-forward web :80", f'forwarding ports of pod "web" {why}')
        self.k_fails("cp web:/etc/hosts /dev/null", f'executing a command in container "main" of pod "web" {why}')

    def test_crash_loop(self):
        self.make(pod("web", script={"run-for": "5s", "exit-code": "3"}))
        self.advance("5s")
        self.assertEqual(container(self.stored("web"))["restartCount"], 1)
        self.advance("5s")
        self.assertEqual(self.status_column("web"), "CrashLoopBackOff")
        self.assertEqual(self.k("get pod web --no-headers").out.split()[1], "0/1")
        last = container(self.stored("web"))["lastState"]["terminated"]
        self.assertEqual((last["exitCode"], last["reason"]), (3, "Error"))
        self.run_until("jsonpath={.status.containerStatuses[0].restartCount}=2", "web", limit="10s")
        shown = self.k("describe pod web").out
        self.assertIn("Back-off restarting failed container main in pod web_", shown)
        self.run_until("jsonpath={.status.containerStatuses[0].restartCount}=5", "web", limit="10m")

    def test_init_containers_in_order(self):
        item = pod("web", script={"run-for.first": "10s", "run-for.second": "20s"})
        names = ("first", "second")
        item["spec"]["initContainers"] = [{"name": name, "image": "example.test/init:1"} for name in names]
        self.make(item)
        self.settle()
        self.assertEqual(self.status_column("web"), "Init:0/2")
        self.advance("10s")
        self.assertEqual(self.status_column("web"), "Init:1/2")
        self.advance("20s")
        self.assertEqual(self.status_column("web"), "Running")
        ended = [container(self.stored("web"), name)["state"]["terminated"] for name in names]
        self.assertEqual([seconds_between(end["startedAt"], end["finishedAt"]) for end in ended], [10, 20])

    def test_an_init_container_that_fails(self):
        item = pod("web", script={"run-for.first": "1s", "exit-code.first": "9"}, restartPolicy="Never")
        item["spec"]["initContainers"] = [{"name": "first", "image": "example.test/init:1"}]
        self.make(item)
        self.advance("1s")
        self.assertEqual(self.status_column("web"), "Init:Error")
        self.assertEqual(self.stored("web")["status"]["phase"], "Failed")

    def test_never_ready(self):
        self.make(pod("web", script={"never-ready": "true"}))
        self.run_until("condition=Ready", "web", limit="10m", outcome="deadline")
        self.assertEqual(self.k("get pod web --no-headers").out.split()[1:3], ["0/1", "Running"])

    def test_exit_codes_make_the_phase(self):
        for name, code, phase, column in (("good", "0", "Succeeded", "Completed"), ("bad", "4", "Failed", "Error")):
            self.make(pod(name, script={"run-for": "1m", "exit-code": code}, restartPolicy="Never"))
            self.run_until(f"jsonpath={{.status.phase}}={phase}", name)
            self.assertEqual(self.status_column(name), column)

    def test_a_deadline(self):
        self.make(pod("web", activeDeadlineSeconds=60))
        self.run_until("jsonpath={.status.phase}=Failed", "web")
        self.assertEqual(self.stored("web")["status"]["reason"], "DeadlineExceeded")

    def test_a_finalizer_keeps_the_ended_pod(self):
        item = pod("web")
        item["metadata"]["finalizers"] = ["example.test/keep"]
        self.running(item)
        self.k("delete pod web --wait=false")
        self.advance("10m")
        self.assertEqual(self.stored("web")["status"]["phase"], "Succeeded")
        self.k("""patch pod web --type=merge -p '{"metadata": {"finalizers": null}}'""")
        self.run_until("delete", "web", limit="0s")


class Orders(ControlPlaneCase):
    def test_held_in_terminating_and_released_with_an_exit_code(self):
        watch = self.watch_pods()
        self.running(pod("web", script={"hold": "terminating"}))
        self.k("delete pod web --wait=false")
        self.advance("10m")
        self.assertEqual(self.status_column("web"), "Terminating")
        self.assertEqual(condition(self.stored("web"), "Ready")["status"], "True")
        self.order("release", "web", outcome={"exitCode": 7}).expect()
        self.run_until("delete", "web", limit="0s")
        last = watch.until_deleted("web")[-1]["object"]
        self.assertEqual((last["status"]["phase"], container(last)["state"]["terminated"]["exitCode"]), ("Failed", 7))

    def test_held_by_an_order_before_the_delete(self):
        self.running(pod("web"))
        self.assertEqual(self.order("hold", "web", point="terminating").expect()["points"], ["terminating"])
        self.k("delete pod web --wait=false")
        self.run_until("delete", "web", limit="10m", outcome="deadline")
        self.order("release", "web").expect()
        self.run_until("delete", "web", limit="0s")

    def test_held_before_ready(self):
        self.make(pod("web", script={"hold": "ready"}))
        waiting = self.start("wait pod web --for=condition=Ready --timeout=20s")
        self.run_until("condition=Ready", "web", limit="10m", outcome="deadline")
        self.order("release", "web", point="ready").expect()
        self.assertEqual(waiting.end(), (0, "pod/web condition met"))

    def test_fail(self):
        self.running(pod("web"))
        self.order("fail", "web", exitCode=5, reason="Broken", message="as ordered").expect()
        self.run_until("jsonpath={.status.phase}=Failed", "web", limit="0s")
        shown = self.k("describe pod web").out
        for text in ("Failed", "Broken", "as ordered"):
            self.assertIn(text, shown)
        self.assertEqual(container(self.stored("web"))["state"]["terminated"]["exitCode"], 5)

    def test_crash_restarts_the_container(self):
        self.running(pod("web"))
        before = container(self.stored("web"))
        self.order("crash", "web", container="main", exitCode=139).expect()
        self.run_until("jsonpath={.status.containerStatuses[0].restartCount}=1", "web")
        after = container(self.stored("web"))
        self.assertEqual(after["lastState"]["terminated"]["exitCode"], 139)
        self.assertNotEqual(after["containerID"], before["containerID"])
        self.assertEqual(self.k("get pod web --no-headers").out.split()[1:4], ["1/1", "Running", "1"])

    def test_evict(self):
        self.running(pod("web", terminationGracePeriodSeconds=0))
        self.order("evict", "web").expect()
        self.run_until("jsonpath={.status.phase}=Failed", "web")
        item = self.stored("web")
        self.assertEqual(item["status"]["reason"], "Evicted")
        self.assertEqual(condition(item, "DisruptionTarget")["reason"], "TerminationByKubelet")
        self.assertIn("The node was low on resource: memory.", self.k("describe pod web").out)
        events = self.k("get events --field-selector=involvedObject.name=web -o jsonpath={.items[*].reason}")
        self.assertIn("Evicted", events.out.split())


class Refusals(ControlPlaneCase):
    """Admission reports errors of a script in the form of Kubernetes' field errors."""

    def is_refused(self, script, *texts):
        result = self.k_fails("apply -f -", 'The Pod "web" is invalid', *texts, stdin=pod("web", script=script))
        self.assertTrue(self.is_gone("web"))
        return result

    def test_an_unknown_key(self):
        field = "metadata.annotations[terrarium.dev/run-four]"
        self.is_refused({"run-four": "5s"}, f'{field}: Unsupported value: "run-four"', '"run-for"')

    def test_a_bad_duration(self):
        field = "metadata.annotations[terrarium.dev/run-for]: Invalid value"
        self.is_refused({"run-for": "soon"}, f'{field}: "soon": time: invalid duration "soon"')
        self.is_refused({"run-for": "-5s"}, f'{field}: "-5s": must be greater than or equal to 0')

    def test_an_unknown_container(self):
        field = "metadata.annotations[terrarium.dev/exit-code.side]"
        self.is_refused({"exit-code.side": "1"}, f'{field}: Invalid value: "side": container not found')

    def test_several_errors_together(self):
        result = self.is_refused({"exit-code": "many", "hold": "running", "never-ready": "maybe"})
        for key in ("exit-code", "hold", "never-ready"):
            self.assertIn(f"metadata.annotations[terrarium.dev/{key}]: ", result.err)

    def test_a_pod_template(self):
        template = {"metadata": {"labels": {"app": "web"}, "annotations": {"terrarium.dev/run-for": "soon"}}}
        template["spec"] = pod("web")["spec"]
        item = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web"},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template},
        }
        field = "spec.template.metadata.annotations[terrarium.dev/run-for]"
        self.k_fails("apply -f -", f'{field}: Invalid value: "soon"', stdin=item)

    def test_an_annotation_added_later(self):
        self.running(pod("web"))
        self.k_fails("annotate pod web terrarium.dev/stop-after=soon", "terrarium.dev/stop-after", '"soon"')
        self.k("annotate pod web terrarium.dev/stop-after=20s")
        self.rest.delete(self.path_of("pods", "web")).expect()
        self.run_until("delete", "web", limit="19s", outcome="deadline")
        self.run_until("delete", "web", limit="1s")
