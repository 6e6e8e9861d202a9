"""The list of intended differences."""

import unittest

from declared import DECLARED

# The names may only become fewer: another declaration does not take the place of one that is gone.
DECLARATIONS = frozenset({"budget-of-a-relabelled-pod"})


class List(unittest.TestCase):
    def test_the_list_only_shrinks(self):
        self.assertLessEqual({each.name for each in DECLARED}, DECLARATIONS)

    def test_every_declaration_has_a_name_of_its_own_and_a_reason(self):
        self.assertEqual(len({each.name for each in DECLARED}), len(DECLARED))
        self.assertTrue(all(each.reason for each in DECLARED))


if __name__ == "__main__":
    unittest.main()
