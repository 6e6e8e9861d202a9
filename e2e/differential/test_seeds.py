"""What CI's seeds cover: their scripts are drawn, not played."""

import unittest

import scripts
from differential import CI_SEEDS

# Enough seeds to draw everything that the makers of scripts can.
ALL_SEEDS = (*range(1, 2001), *range(scripts.SETS_FROM, scripts.SETS_FROM + 1000))
SET_RESOURCES = ("statefulsets", "daemonsets", "cronjobs")


def jobs_of(script):
    """(number of the step, spec) of the Jobs that a script creates."""
    for number, step in enumerate(script.steps):
        if step.get("do") == "create" and step["resource"] == "jobs":
            yield number, step["object"]["spec"]


def features_of(script):
    """The family, gates, kinds of steps and fields of Jobs of a script, as texts."""
    features = {f"{script.family} with gates {script.gates}"}
    for step in script.steps:
        if "wait" in step:
            features.add("wait")
            continue
        features.add(" ".join(str(step[key]) for key in ("do", "act", "resource", "subresource") if key in step))
        if step["do"] == "patch" and step["resource"] == "jobs":
            features |= {f"patch of a Job's {field}" for field in step["patch"]["spec"]}
        if step["do"] == "create" and step["resource"] in SET_RESOURCES:
            features |= set(features_of_set(step["resource"], step["object"]["spec"]))
    for _, spec in jobs_of(script):
        features |= {f"Job with {field}" for field in spec}
        features.add(f"{spec.get('completionMode', 'NonIndexed')} Job with gates {script.gates}")
        if script.family == "replacements":
            features.add(f"terminating pods under {spec.get('podReplacementPolicy')} with gates {script.gates}")
    return features


def features_of_set(resource, spec):
    for field, value in spec.items():
        is_choice = field in ("podManagementPolicy", "concurrencyPolicy", "persistentVolumeClaimRetentionPolicy")
        yield f"{resource} with {field}" + (f" {value}" if is_choice else "")
    strategy = spec.get("updateStrategy", {})
    yield f"{resource} with {strategy.get('type')} {sorted(strategy.get('rollingUpdate', {}))}"


def features_of_seeds(seeds):
    return set().union(*(features_of(scripts.script(seed)) for seed in seeds))


class Coverage(unittest.TestCase):
    def test_every_family_runs_with_every_setting_of_the_gates(self):
        wanted = {f"{family} with gates {gates}" for family in scripts.FAMILIES for gates in scripts.GATES}
        wanted |= {f"{family} with gates default" for family in scripts.SET_FAMILIES}
        self.assertEqual(wanted - features_of_seeds(CI_SEEDS), set())

    def test_pods_of_jobs_terminate_under_both_policies_and_with_the_gate_off(self):
        wanted = {
            f"terminating pods under {policy} with gates {gates}"
            for policy in ("Failed", "TerminatingOrFailed")
            for gates in scripts.GATES
        }
        self.assertEqual(wanted - features_of_seeds(CI_SEEDS), set())

    def test_jobs_of_every_kind(self):
        wanted = {
            "Indexed Job with gates default",
            "Indexed Job with gates jobs-off",
            "NonIndexed Job with gates jobs-off",
            "Job with ttlSecondsAfterFinished",
            "Job with podFailurePolicy",
            "Job with successPolicy",
            "Job with backoffLimitPerIndex",
            "Job with managedBy",
        }
        self.assertEqual(wanted - features_of_seeds(CI_SEEDS), set())

    def test_whatever_a_script_can_contain_is_in_one(self):
        self.assertEqual(features_of_seeds(ALL_SEEDS) - features_of_seeds(CI_SEEDS), set())

    def test_no_seed_is_played_twice(self):
        self.assertEqual(len(set(CI_SEEDS)), len(CI_SEEDS))


if __name__ == "__main__":
    unittest.main()
