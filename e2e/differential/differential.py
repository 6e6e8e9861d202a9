#!/usr/bin/env python3
"""Random workloads on two Terrarium clusters: one with its own controllers, one with the real kube-controller-manager.

  -- (no arguments)                           what CI runs
  -- --seeds 17 --shrink                      one seed, with the fewest steps that still differ
  -- --seeds 1000-2000 --jobs 150             many
  -- --mixed --seeds 1-500 --lag 0.3          our deployment-controller with the real replicaset-controller
  -- --takeover                               the real controllers take over in the middle of a scale

After each step both become idle and everything in the namespace is compared. A seed that differs is played again; it
fails when it differs again, or when too many differ only once.
"""

import argparse
import concurrent.futures
import contextlib
import json
import sys
import time

import declared
import mixed
import scripts
import takeover
from arena import Arena
from shrink import shrink

# Those after 40, and those after 10,007, were chosen for what the first ones lack, above all terminating pods of Jobs under
# each policy and setting of the gates. test_seeds.py has what the seeds must cover.
CI_SEEDS = (
    *(*range(1, 41), 47, 48, 51, 71, 88, 100, 281, 369, 795),
    *(*range(10_000, 10_008), 10_014, 10_058, 10_219, 10_391, 10_472, 10_711, 10_762, 10_928),
)
CI_MIXED_SEEDS = range(1, 17)
# As before Kubernetes 1.36: its view of pods may lack those that it has created.
STALE = ("--feature-gates=StaleControllerConsistencyReplicaSet=false",)
CI_LAG_S = 0.2  # of the real replicaset-controller's view of pods
CI_MIXED = ((0.0, ()), (CI_LAG_S, ()), (CI_LAG_S, STALE))


# Of the seeds of a run, this many may differ once and not again: a machine under load is late. At least two may.
UNSTEADY_SHARE = 1 / 20


def parse_seeds(text):
    """"1-40", "7", "1-3,9"."""
    seeds = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def describe(outcome, options, verb="differs"):
    """Prints a difference with the steps up to it and the command that plays it again."""
    script = outcome.script
    print(f"\nseed {script.seed} ({script.family}, gates {script.gates}) {verb} after step {outcome.step}:")
    for number, step in enumerate(script.steps[: outcome.step + 1]):
        print(f"  {number:2} {json.dumps(step)}")
    for leaf in outcome.leaves[:20]:
        print(f"  {leaf.key}{leaf.path}")
        print(f"    ours   {json.dumps(leaf.ours)}")
        print(f"    theirs {json.dumps(leaf.theirs)}")
    if len(outcome.leaves) > 20:
        print(f"  and {len(outcome.leaves) - 20} more fields")
    print(
        f"  replay: e2e/run_suite.py differential --terrarium {options.terrarium} -- --seeds {script.seed} --shrink",
        flush=True,
    )


def find_unsteady(first, again):
    """The outcomes that differed in the first play and not when they were played again."""
    steady = {outcome.script.seed for outcome in again if outcome.differs}
    replayed = {outcome.script.seed for outcome in again}
    return [outcome for outcome in first if outcome.script.seed in replayed - steady]


def are_too_many(unsteady, first):
    return len(unsteady) > max(2, len(first) * UNSTEADY_SHARE)


def compare(options):
    """(passed, failed) of the seeds."""
    is_ci = tuple(options.seeds) == CI_SEEDS and not options.family
    chosen = [scripts.script(seed) for seed in options.seeds]
    chosen = [script for script in chosen if options.family in (None, script.family)]
    gates = sorted({script.gates for script in chosen})
    arena = Arena(options.terrarium, options.controller_manager, gates)
    with contextlib.closing(arena), concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        first = list(pool.map(arena.play, chosen))
        again = [] if options.once else list(pool.map(arena.play, [each.script for each in first if each.differs]))
        failed = [each for each in (first if options.once else again) if each.differs]
        if options.shrink:
            failed = [shrink(outcome, arena.play, pool) for outcome in failed]
        idle = arena.plays_with_idle_controllers(chosen[:2]) if is_ci else []
    for outcome in failed:
        describe(outcome, options)
    for outcome in idle:
        if not outcome.differs:
            print(f"seed {outcome.script.seed}: without our controllers nothing differs, so nothing is compared")
    met = set().union(*(outcome.met for outcome in first + again))
    unused = [each.name for each in declared.DECLARED if each.name not in met] if is_ci else []
    for name in unused:
        print(f"declared difference {name}: no seed of CI meets it any more; take it out of declared.py")
    unsteady = find_unsteady(first, again)
    for outcome in unsteady:
        describe(outcome, options, "differed once, and not when played again,")
    too_many = are_too_many(unsteady, first)
    if too_many:
        print(f"{len(unsteady)} of {len(first)} seeds differed once and not again, which is too many")
    bad = len(failed) + len(unused) + sum(not outcome.differs for outcome in idle) + too_many
    return len(first) - len(failed), bad


def run_mixed_and_takeover(options):
    """[(passed, failed)] of what CI runs beside the comparison: side by side, because most of it is waiting."""
    programs = options.terrarium, options.controller_manager
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = [pool.submit(mixed.run, *programs, CI_MIXED_SEEDS, options.jobs, *setting) for setting in CI_MIXED]
        runs.append(pool.submit(takeover.run, *programs))
        return [run.result() for run in runs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terrarium", required=True)
    parser.add_argument("--controller-manager", required=True, help="the real one, which run_suite.py builds")
    parser.add_argument("--seeds", type=parse_seeds, help="1-40,77; those of CI and the mixed mode unless given")
    parser.add_argument("--jobs", type=int, default=20, help="scripts side by side")
    parser.add_argument("--shrink", action="store_true", help="drop steps while it still differs")
    parser.add_argument("--family", choices=sorted(scripts.FAMILIES), help="only seeds of these scripts")
    parser.add_argument("--once", action="store_true", help="do not play a seed again that differs")
    parser.add_argument("--mixed", action="store_true", help="only the mixed mode")
    parser.add_argument("--takeover", action="store_true", help="only the takeover in the middle of a scale")
    parser.add_argument("--stale", action="store_true", help="mixed: a replicaset-controller that does not wait for its view")
    parser.add_argument("--lag", type=float, default=0.0, help="seconds by which the mixed mode's pods come late")
    options = parser.parse_args()
    begin = time.monotonic()
    results = []
    if options.mixed:
        seeds = options.seeds or CI_MIXED_SEEDS
        flags = STALE if options.stale else ()
        results.append(
            mixed.run(options.terrarium, options.controller_manager, seeds, options.jobs, options.lag, flags)
        )
    elif options.takeover:
        results.append(takeover.run(options.terrarium, options.controller_manager))
    else:
        is_ci = options.seeds is None
        options.seeds = options.seeds or CI_SEEDS
        results.append(compare(options))
        results += run_mixed_and_takeover(options) if is_ci else []
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{time.monotonic() - begin:.0f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
