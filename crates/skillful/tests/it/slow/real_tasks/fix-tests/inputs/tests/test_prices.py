import unittest

from prices import split, with_tax


class Prices(unittest.TestCase):
    def test_tax_is_rounded_half_up(self):
        self.assertEqual(with_tax(1000, 19), 1190)
        self.assertEqual(with_tax(250, 19), 298)

    def test_no_cent_is_lost(self):
        self.assertEqual(split(1000, 3), [334, 333, 333])
        self.assertEqual(sum(split(1001, 7)), 1001)
