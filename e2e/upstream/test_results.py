"""The judgement of results.py, on made-up output, and the lists."""

import pathlib
import unittest

from results import (
    FAILED, LISTED, MARK, PASSED, judge, parse_list, parse_table, reports_gate, table_problems, why_not_failed,
)
from suites import LACKED_GATE, SUITES

FOLDER = pathlib.Path(__file__).parent

# The tests and subtests that the lists may contain. Names may only be removed.
NOT_SUPPORTED = frozenset(
    {
        "apply TestApplyCRDNoSchema",
        "apply TestApplyCRDStructuralSchema",
        "apply TestApplyCRDUnhandledSchema",
        "apply TestDefaultMissingKeyCRD",
        "apply TestNoOpApplyWithDefaultsSameResourceVersionCRD",
        "apply TestUpdateStatusWithOldVersion",
        "apply TestApplyStatusWithCBOR",
        "apply TestPatchVeryLargeObjectCBORApply",
        "apply TestCreateOnApplyFailsWithForbidden",
        "apply TestApplyStatus/certificates.k8s.io/v1,_Resource=certificatesigningrequests",
        "disruption TestPDBWithScaleSubresource",
        "disruption TestEmptySelector/v1beta1_should_not_target_any_pods",
        "disruption TestSelectorsForPodsWithoutLabels/"
        "pods_with_no_labels_can_be_targeted_by_v1beta1_PDBs_with_DoesNotExist_selector",
        "garbagecollector TestCustomResourceCascadingDeletion",
        "garbagecollector TestMixedRelationships",
        "garbagecollector TestCRDDeletionCascading",
        "garbagecollector TestCascadingDeleteOnCRDConversionFailure",
        "job TestJobAdmissionParallelismUpdate",
        "job TestJobGangScheduling",
        "job TestUpdateJobPodResources/suspended_job,_feature_gate_disabled,_update_resources",
        "quota TestQuotaLimitService",
        "quota TestQuotaLimitedResourceDenial",
        "serviceaccount TestServiceAccountTokenAuthentication",
        "serviceaccount TestLegacyServiceAccountTokenTracking",
        "serviceaccount TestLegacyServiceAccountTokenCleanUp",
        "serviceaccount TestExternalJWTSigningAndAuth",
        "serviceaccount TestDelayedStartForSigner",
    }
)
FAILS_ON_KUBERNETES = frozenset(
    {
        "apply TestApplyStatus/certificates.k8s.io/v1,_Resource=certificatesigningrequests",
        "apply TestApplyStatusWithCBOR/certificates.k8s.io/v1,_Resource=certificatesigningrequests",
        "deployment TestTerminatingReplicasDeploymentStatus",
        "job TestDelayTerminalPhaseCondition",
        "podgc TestTerminatingOnOutOfServiceNode",
        "replicaset TestTerminatingReplicas",
        "serviceaccount TestServiceAccountTokenAuthentication",
        "serviceaccount TestLegacyServiceAccountTokenTracking",
        "serviceaccount TestLegacyServiceAccountTokenCleanUp",
        "serviceaccount TestExternalJWTSigningAndAuth",
        "serviceaccount TestDelayedStartForSigner",
    }
)


def output(*lines):
    return "".join(f"something printed before{MARK}--- {outcome}: {name} (0.10s)\n" for outcome, name in lines)


class Judgement(unittest.TestCase):
    def judge(self, code, lines, listed=None, stderr="", test="TestA"):
        return judge(test, code, output(*lines), stderr, listed or {})

    def test_a_test_that_passes(self):
        self.assertEqual(self.judge(0, [("PASS", "TestA"), ("PASS", "TestA/x")]).outcome, PASSED)

    def test_a_failure_names_the_subtest(self):
        verdict = self.judge(1, [("FAIL", "TestA"), ("FAIL", "TestA/x"), ("PASS", "TestA/y")])
        self.assertEqual((verdict.outcome, verdict.reasons), (FAILED, ["TestA/x failed"]))

    def test_a_listed_subtest_excuses_its_parent_and_no_other_subtest(self):
        listed = {"TestA/x": "no etcd"}
        lines = [("FAIL", "TestA"), ("FAIL", "TestA/x"), ("PASS", "TestA/y")]
        self.assertEqual(self.judge(1, lines, listed).outcome, LISTED)
        lines[2] = ("FAIL", "TestA/y")
        self.assertEqual(self.judge(1, lines, listed).reasons, ["TestA/y failed"])

    def test_a_listed_test_that_passes_is_a_failure(self):
        verdict = self.judge(0, [("PASS", "TestA")], {"TestA": "no such API"})
        self.assertEqual(verdict.reasons, ["TestA passes and must be removed from the list"])

    def test_a_listed_subtest_that_does_not_exist_is_a_failure(self):
        verdict = self.judge(0, [("PASS", "TestA")], {"TestA/gone": "no such API"})
        self.assertEqual(verdict.reasons, ["TestA/gone is listed and does not exist"])

    def test_a_panic_is_a_failure_unless_it_is_listed(self):
        self.assertEqual(self.judge(2, []).reasons, ["no result, exit code 2"])
        self.assertEqual(self.judge(2, [], {"TestA": "panics"}).outcome, LISTED)

    def test_a_test_that_does_not_exist_is_a_failure(self):
        self.assertEqual(self.judge(0, []).outcome, FAILED)
        self.assertIn("no such test", self.judge(0, [], {"TestA": "renamed"}).reasons)

    def test_a_skipped_test_is_a_failure_unless_it_is_listed(self):
        for name in ("TestA", "TestA/x"):
            verdict = self.judge(0, [("PASS", "TestA"), ("SKIP", name)])
            self.assertEqual(verdict.reasons, [f"{name} was skipped: only listed tests may be"])
        lines = [("PASS", "TestA"), ("SKIP", "TestA/x/y"), ("PASS", "TestA/z")]
        self.assertEqual(self.judge(0, lines, {"TestA/x/y": "no etcd"}).outcome, LISTED)
        self.assertEqual(self.judge(0, lines, {"TestA/z": "no etcd"}).outcome, FAILED)

    def test_a_problem_of_the_server_fails_a_test_that_passes(self):
        problem = "UPSTREAM PROBLEM: TestA: terrarium ended with 1\n"
        self.assertEqual(self.judge(0, [("PASS", "TestA")], stderr=problem).outcome, FAILED)
        self.assertEqual(judge("TestA", 0, problem + output(("PASS", "TestA")), "", {}).outcome, FAILED)


class Gates(unittest.TestCase):
    def test_the_report_of_a_gate_is_recognised(self):
        problem = "UPSTREAM PROBLEM: TestA: the test sets the gate Some to false, which Terrarium lacks\n"
        self.assertTrue(reports_gate(problem, "", "Some"))
        self.assertTrue(reports_gate("", problem, "Some"))
        self.assertFalse(reports_gate(problem, "", "Other"))
        self.assertFalse(reports_gate("the test sets the gate Some to false\n", "", "Some"))

    def test_the_test_that_shows_the_report_is_listed(self):
        listed = parse_list((FOLDER / "not_supported.txt").read_text())
        suite, test, gate = LACKED_GATE
        self.assertTrue(any(name.split("/")[0] == test and gate in reason for name, reason in listed[suite].items()))


class WithoutControllers(unittest.TestCase):
    TIMED_OUT = "panic: test timed out after 40s\nrunning tests:\n"

    def why(self, code, lines=(), stderr="", usual=3.0):
        return why_not_failed("TestA", code, output(*lines), stderr, 40, usual)

    def test_a_test_that_fails_or_waits_until_it_is_ended_needs_them(self):
        self.assertEqual(self.why(1, [("FAIL", "TestA")]), "")
        self.assertEqual(self.why(2, stderr=self.TIMED_OUT), "")

    def test_a_test_that_passes_is_skipped_or_panics_does_not_show_it(self):
        self.assertTrue(self.why(0, [("PASS", "TestA")]))
        self.assertTrue(self.why(0, [("SKIP", "TestA")]))
        self.assertTrue(self.why(2, stderr="panic: runtime error\n"))

    def test_a_failure_of_the_server_does_not_show_it(self):
        self.assertTrue(self.why(1, [("FAIL", "TestA")], "UPSTREAM PROBLEM: TestA: terrarium ended with 1\n"))

    def test_a_test_that_is_slow_anyway_does_not_show_it(self):
        self.assertTrue(self.why(2, stderr=self.TIMED_OUT, usual=25.0))

    def test_every_suite_with_controllers_has_such_a_test(self):
        self.assertEqual([suite.name for suite in SUITES if bool(suite.controllers) != bool(suite.needs_controller)], [])


class List(unittest.TestCase):
    def test_the_lists_only_shrink(self):
        for file, allowed in (("not_supported.txt", NOT_SUPPORTED), ("fails_on_kubernetes.txt", FAILS_ON_KUBERNETES)):
            listed = parse_list((FOLDER / file).read_text())
            names = {f"{suite} {test}" for suite, tests in listed.items() for test in tests}
            self.assertLessEqual(names, allowed, file)

    def test_lines(self):
        listed = parse_list("# why\n\njob TestA no such API\njob TestB/x a race\n")
        self.assertEqual(listed, {"job": {"TestA": "no such API", "TestB/x": "a race"}})

    def test_a_line_without_a_reason_and_a_name_listed_twice_are_refused(self):
        for text in ("job TestA\n", "job TestA b\njob TestA c\n"):
            with self.assertRaises(ValueError):
                parse_list(text)


class Table(unittest.TestCase):
    TEXT = "| suite | tests | passed |\n|---|---|---|\n| job | 3 | 2 | 1 s | |\n| scale, secrets | 2 | 2 | 1 s | |\n"
    TESTS = {"job": ["TestA", "TestB", "TestC"], "scale": ["TestA"], "secrets": ["TestA"]}
    LISTED = {"job": {"TestB/x": "a race", "TestB/y": "a race"}}

    def problems(self, text=TEXT, tests=None):
        return table_problems(parse_table(text), tests or self.TESTS, self.LISTED)

    def test_a_table_that_is_right(self):
        self.assertEqual(parse_table(self.TEXT), {"job": (3, 2), "scale, secrets": (2, 2)})
        self.assertEqual(self.problems(), [])

    def test_other_numbers(self):
        self.assertEqual(len(self.problems(self.TEXT.replace("| 3 | 2 |", "| 3 | 3 |"))), 1)
        self.assertEqual(len(self.problems(tests={**self.TESTS, "scale": ["TestA", "TestB"]})), 1)

    def test_suites_that_are_missing_or_unknown(self):
        self.assertEqual(self.problems(tests={**self.TESTS, "quota": ["TestA"]}), ["README.md: no row has the suite quota"])
        self.assertEqual(self.problems(self.TEXT + "| gone | 1 | 1 | | |\n"), ["README.md: there is no suite gone"])

    def test_the_readme_has_every_suite(self):
        table = parse_table((FOLDER.parents[1] / "README.md").read_text())
        names = [name for suites in table for name in suites.split(", ")]
        self.assertEqual(sorted(names), sorted(suite.name for suite in SUITES))


if __name__ == "__main__":
    unittest.main()
