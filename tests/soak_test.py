#!/usr/bin/env python3
"""soak.py finds the first seed that fails, and says how to repeat it."""

import contextlib
import io
import sys
import unittest

import soak

# Fails if one of its seeds is among those that are given first.
PROGRAM = """
import sys
bad = {int(word) for word in sys.argv[1].split(",")}
first, seeds = int(sys.argv[2]), int(sys.argv[3])
sys.exit(bool(bad & set(range(first, first + seeds))))
"""


class Fake:
    def __init__(self, *bad):
        self.bad = ",".join(map(str, bad))

    def command(self, build, first, seeds):
        return [sys.executable, "-c", PROGRAM, self.bad, str(first), str(seeds)]


class Soak(unittest.TestCase):
    def run_soak(self, tester):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            good = soak.soak("fake", tester, "build", 0, 60, 2)
        return good, output.getvalue()

    def test_the_first_seed_is_reported(self):
        good, output = self.run_soak(Fake(37, 34, 52))
        self.assertFalse(good)
        self.assertRegex(output, r"(?s)fake fails; to repeat it: .* 37,34,52 34 1\n")

    def test_all_seeds_succeed(self):
        self.assertEqual(self.run_soak(Fake(60)), (True, "soak: fake: 60 seeds from 0 on, none failed\n"))

    def test_a_seed_has_the_shape_of_its_batch(self):
        tester = soak.AREAS["point"]
        batch, alone = tester.command("b", 30, 10), tester.command("b", 37, 1)
        self.assertEqual(batch[:-2], alone[:-2])
        self.assertEqual((batch[-2:], alone[-2:]), (["30", "10"], ["37", "1"]))


if __name__ == "__main__":
    unittest.main()
