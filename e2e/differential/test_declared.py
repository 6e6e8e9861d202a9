"""The list of intended differences."""

import unittest

from declared import DECLARED

# May only become smaller.
DECLARATIONS = 1


class List(unittest.TestCase):
    def test_the_list_only_shrinks(self):
        self.assertEqual(len(DECLARED), DECLARATIONS)

    def test_every_declaration_has_a_name_of_its_own_and_a_reason(self):
        self.assertEqual(len({each.name for each in DECLARED}), len(DECLARED))
        self.assertTrue(all(each.reason for each in DECLARED))


if __name__ == "__main__":
    unittest.main()
