"""The clock over HTTP: its modes, how it is moved and what stops it."""

import time

from base import ControlPlaneCase, condition, pod, seconds_between
from lib.server import BARE, SLOWDOWN


def seconds_of(answer):
    """The reported advance of a clock move, in whole seconds."""
    units = {"h": 3600, "m": 60, "s": 1}
    total, number = 0.0, ""
    for letter in answer["advanced"]:
        if letter in units:
            total, number = total + float(number) * units[letter], ""
        else:
            number += letter
    return round(total)


class Virtual(ControlPlaneCase):
    def run_until_idle(self, limit="1h"):
        return self.control("POST", "/clock/run-until-idle", {"limit": limit}).expect()

    def test_it_stands_still(self):
        self.settle()
        before = self.clock()
        self.assertEqual((before["mode"], before["idle"]), ("virtual", True))
        self.running(pod("web"))
        self.assertEqual(self.clock()["now"], before["now"])

    def test_advance(self):
        before = self.now()
        answer = self.advance("1h30m")
        self.assertEqual(seconds_of(answer), 5400)
        self.assertEqual(seconds_between(before, answer["now"]), 5400)
        self.assertEqual(self.clock()["now"], answer["now"])
        self.assertGreater(answer["timersFired"], 0)

    def test_every_state_has_its_own_instant(self):
        watch = self.watch_pods()
        script = {"start-delay": "10s", "ready-delay": "20s", "run-for": "30s"}
        self.make(pod("job", script=script, restartPolicy="Never"))
        created = self.now().replace(microsecond=0)
        self.advance("10m")
        ready_at, ended_at = None, None
        while ended_at is None:
            item = watch.next()["object"]
            if condition(item, "Ready").get("status") == "True":
                ready_at = seconds_between(created, condition(item, "Ready")["lastTransitionTime"])
            if item["status"]["phase"] == "Succeeded":
                end = item["status"]["containerStatuses"][0]["state"]["terminated"]
                ended_at = seconds_between(created, end["finishedAt"])
        self.assertEqual((ready_at, ended_at), (30, 40))

    def test_the_next_timer(self):
        self.settle()
        due = self.clock()["nextTimer"]
        answer = self.control("POST", "/clock/next-timer").expect()
        self.assertEqual((answer["outcome"], answer["now"], answer["timersFired"]), ("done", due, 1))

    def test_the_next_timer_is_reported(self):
        self.running(pod("web", script={"stop-after": "20s"}))
        before = self.clock()
        self.assertNotIn("nextWorkTimer", before)
        self.rest.delete(self.path_of("pods", "web")).expect()
        self.settle()
        after = self.clock()
        self.assertEqual((after["idle"], seconds_between(before["now"], after["nextWorkTimer"])), (False, 20))

    def test_run_until_idle(self):
        self.running(pod("web", script={"stop-after": "20s"}))
        self.rest.delete(self.path_of("pods", "web")).expect()
        answer = self.run_until_idle()
        self.assertEqual((answer["outcome"], seconds_of(answer)), ("idle", 20))
        self.assertTrue(self.is_gone("web"))
        answer = self.run_until_idle()
        self.assertEqual((answer["outcome"], seconds_of(answer)), ("idle", 0))

    def test_run_until_idle_with_a_limit(self):
        self.running(pod("web", script={"stop-after": "20s"}))
        self.rest.delete(self.path_of("pods", "web")).expect()
        answer = self.run_until_idle(limit="5s")
        self.assertEqual((answer["outcome"], seconds_of(answer)), ("deadline", 5))
        self.assertFalse(self.is_gone("web"))
        self.assertEqual(self.run_until_idle()["outcome"], "idle")

    def test_run_until_a_condition(self):
        self.make(pod("web", script={"ready-delay": "90s"}))
        answer = self.run_until("condition=Ready", "web", limit="1m", outcome="deadline")
        self.assertEqual(seconds_of(answer), 60)
        self.assertNotIn("revision", answer)
        answer = self.run_until("condition=Ready", "web", limit="1m")
        self.assertEqual(seconds_of(answer), 30)
        self.assertEqual(str(answer["revision"]), self.stored("web")["metadata"]["resourceVersion"])
        # It already holds, so there is no wait.
        answer = self.run_until("condition=Ready", "web", limit="1m")
        self.assertEqual((seconds_of(answer), answer["timersFired"]), (0, 0))

    def test_run_until_other_conditions(self):
        self.make(pod("web", script={"start-delay": "5s", "run-for": "10s"}, restartPolicy="Never"))
        for text, seconds in (
            ("create", 0),
            ("jsonpath={.status.phase}=Running", 5),
            ('jsonpath={.status.conditions[?(@.type=="Ready")].status}=True', 0),
            ("jsonpath={.status.containerStatuses[0].state.terminated.exitCode}=0", 10),
            ("condition=Ready=False", 0),
        ):
            with self.subTest(text):
                self.assertEqual(seconds_of(self.run_until(text, "web")), seconds)
        self.rest.delete(self.path_of("pods", "web")).expect()
        self.run_until("delete", "web")

    def test_a_state_of_one_write_counts(self):
        """The pod is Failed and gone within one instant; the condition held in between."""
        # The stop takes a second, so that it begins after the request.
        self.running(pod("web", script={"stop-after": "1s", "stop-exit-code": "1"}))
        self.rest.delete(self.path_of("pods", "web")).expect()
        self.run_until("jsonpath={.status.phase}=Failed", "web", limit="1s")
        self.settle()
        self.assertTrue(self.is_gone("web"))


class Modes(ControlPlaneCase):
    flags = ("--clock=real",)

    def put_mode(self, mode):
        answer = self.control("PUT", "/clock", {"mode": mode}).expect()
        self.assertEqual(answer["mode"], mode)
        self.addCleanup(self.control, "PUT", "/clock", {"mode": "real"})
        return answer["now"]

    def goes(self, what):
        before = self.clock()["now"]
        self.wait_until(what, lambda: self.clock()["now"] > before)

    def test_a_real_clock_goes_and_cannot_be_moved(self):
        self.goes("time passes")
        for path, body in (
            ("advance", {"duration": "1s"}),
            ("next-timer", None),
            ("run-until-idle", {}),
            ("run-until", {"resource": "nodes", "name": "node-0", "for": "create"}),
        ):
            answer = self.control("POST", f"/clock/{path}", body)
            self.assertEqual((answer.code, answer.body["reason"]), (400, "BadRequest"), answer.text)
            self.assertIn("the clock is real, not virtual: POST clock/freeze first", answer.body["message"])

    def test_freeze_stops_it_where_it_is(self):
        before = self.clock()["now"]
        frozen = self.control("POST", "/clock/freeze").expect()
        self.addCleanup(self.control, "PUT", "/clock", {"mode": "real"})
        self.assertEqual(frozen["mode"], "virtual")
        self.assertGreaterEqual(frozen["now"], before)
        self.assertEqual(self.clock()["now"], frozen["now"])
        self.assertLess(seconds_between(before, frozen["now"]), 60)

    def test_it_goes_on_from_where_it_stood(self):
        self.put_mode("virtual")
        ahead = self.advance("1h")["now"]
        on = self.put_mode("real")
        self.assertGreaterEqual(on, ahead)
        self.assertLess(seconds_between(ahead, on), 60)
        self.goes("time passes again")

    def test_scaled(self):
        began, before = time.monotonic(), self.put_mode("scaled=10000")
        self.wait_until("an hour passes", lambda: seconds_between(before, self.now()) > 3600)
        passed_s = time.monotonic() - began
        self.assertLess(passed_s, 3600 / 100)
        answer = self.control("POST", "/clock/advance", {"duration": "1s"})
        self.assertEqual(answer.code, 400)
        self.assertIn("the clock is scaled=10000", answer.body["message"])

    def test_auto_can_be_moved_as_well(self):
        before = self.put_mode("auto")
        self.assertEqual(seconds_between(before, self.advance("1h")["now"]), 3600)


class Auto(ControlPlaneCase):
    flags = ("--clock=auto",)

    def test_an_hour_of_work_takes_no_time(self):
        times_s = []
        # The best run counts, since other programs use this machine too.
        for name in ("one", "two", "three"):
            began = time.monotonic()
            self.make(pod(name, script={"run-for": "1h"}, restartPolicy="Never"))
            self.wait_until("the pod is Succeeded", lambda: self.stored(name)["status"]["phase"] == "Succeeded")
            times_s.append(time.monotonic() - began)
            end = self.stored(name)["status"]["containerStatuses"][0]["state"]["terminated"]
            self.assertEqual(seconds_between(end["startedAt"], end["finishedAt"]), 3600)
        self.assertLess(min(times_s), SLOWDOWN, times_s)

    def test_it_does_not_run_away(self):
        self.make(pod("job", script={"run-for": "1h"}, restartPolicy="Never"))
        self.wait_until("the pod is Succeeded", lambda: self.stored("job")["status"]["phase"] == "Succeeded")
        self.wait_until("nothing is left to do", lambda: self.clock()["idle"])
        idle = self.clock()["now"]
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            self.assertEqual(self.clock()["now"], idle)

    def test_kubectl_waits_for_an_hour(self):
        self.make(pod("slow", script={"ready-delay": "1h"}))
        self.assertEqual(self.k("wait pod slow --for=condition=Ready --timeout=20s").out, "pod/slow condition met\n")


class NothingToWaitFor(ControlPlaneCase):
    flags = ("--clock=virtual", *BARE)

    def test_a_cluster_without_components_has_no_timers(self):
        self.assertNotIn("nextTimer", self.clock())
        answer = self.control("POST", "/clock/next-timer").expect()
        self.assertEqual((answer["outcome"], answer["timersFired"]), ("no-timer", 0))
        self.assertEqual(seconds_of(self.advance("24h")), 86400)
