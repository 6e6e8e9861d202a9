"""The judgement of seeds that differ, on made-up outcomes."""

import unittest

import scripts
from differential import are_too_many, find_unsteady, parse_seeds
from play import Outcome


def outcomes(seeds, differing):
    return [Outcome(scripts.script(seed), step=0 if seed in differing else None) for seed in seeds]


class Seeds(unittest.TestCase):
    def test_ranges(self):
        self.assertEqual(parse_seeds("1-3,9"), [1, 2, 3, 9])


class Unsteady(unittest.TestCase):
    def test_a_seed_that_differs_once_is_found_with_its_first_outcome(self):
        first = outcomes(range(1, 6), {2, 4})
        again = outcomes([2, 4], {4})
        self.assertEqual(find_unsteady(first, again), [first[1]])

    def test_nothing_is_unsteady_without_a_second_play(self):
        self.assertEqual(find_unsteady(outcomes(range(1, 6), {2}), []), [])

    def test_two_of_a_short_run_are_tolerated_and_three_are_not(self):
        first = outcomes(range(1, 41), {1, 2, 3})
        self.assertFalse(are_too_many(first[:2], first))
        self.assertTrue(are_too_many(first[:3], first))

    def test_more_of_a_long_run_are_tolerated(self):
        first = [None] * 1000
        self.assertFalse(are_too_many(first[:50], first))
        self.assertTrue(are_too_many(first[:51], first))


if __name__ == "__main__":
    unittest.main()
