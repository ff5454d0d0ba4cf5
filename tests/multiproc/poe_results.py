#!/usr/bin/env python3
"""The tables of tests/bench/RESULTS.md: how rows are formatted, and how one section is replaced. Nothing is
measured."""

import os
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"
sys.path.insert(0, str(BENCH))
sys.dont_write_bytecode = True

from results import COLUMNS, RESULTS, cells, header, replaced, row, section, write_table


def medians(**values):
    return {name.replace("_", " "): {"median": value} for name, value in values.items()}


class Format(unittest.TestCase):
    def test_a_ratio_and_a_target(self):
        self.assertEqual(cells({"what": "launch, ms", "ours": 3.66, "peer": 5.11, "target": 1.0}),
                         ["launch, ms", "3.66", "5.11", "0.72", "≤ 1.0", "yes"])
        self.assertEqual(cells({"what": "", "ours": 17.6, "peer": 23.7, "target": 0.7})[3:], ["0.74", "≤ 0.7", "no"])
        self.assertEqual(cells({"what": "", "ours": 202, "peer": 57.0, "target": ">= 2.0"})[1:],
                         ["202", "57.0", "3.54", "≥ 2.0", "yes"])

    def test_the_ratio_that_is_shown_decides(self):
        self.assertEqual(cells({"what": "", "ours": 1.004, "peer": 1.0, "target": 1.0})[3:], ["1.00", "≤ 1.0", "yes"])
        self.assertEqual(cells({"what": "", "ours": 1.004, "peer": 1.0, "target": 1.001})[3:],
                         ["1.0040", "≤ 1.001", "no"])

    def test_without_a_peer_the_target_limits_the_figure(self):
        self.assertEqual(cells({"what": "memory, MB", "ours": 24, "target": 64})[1:], ["24", "-", "-", "≤ 64", "yes"])
        self.assertEqual(cells({"what": "memory, MB", "ours": 90.5, "target": 64})[1:],
                         ["90.5", "-", "-", "≤ 64", "no"])

    def test_what_is_not_known(self):
        self.assertEqual(cells({"what": "x", "ours": None, "peer": None, "target": None})[1:], ["-"] * 5)
        self.assertEqual(cells({"what": "x", "ours": None, "peer": 2.0, "target": 1.0})[1:],
                         ["-", "2.00", "-", "≤ 1.0", "-"])
        self.assertEqual(cells({"what": "x", "ours": 0, "peer": 0, "target": 0})[1:], ["0", "0", "-", "≤ 0", "yes"])
        self.assertEqual(cells({"what": "x", "ours": 1.0, "target": "below LAM"})[4:], ["below LAM", "-"])

    def test_a_ratio_without_figures_and_text_as_it_is(self):
        self.assertEqual(cells({"what": "x", "ours": None, "ratio": "0.38", "target": 0.5})[1:],
                         ["-", "-", "0.38", "≤ 0.5", "yes"])
        self.assertEqual(cells({"what": "x", "ours": "0.350", "peer": "0.403", "target": None})[1:4],
                         ["0.350", "0.403", "0.87"])

    def test_the_best_of_the_peers(self):
        self.assertEqual(cells(row("x", 1.0, {"a": None, "b": 4.0, "c": 2.0}))[2], "2.00 c")
        self.assertEqual(cells(row("x", 1.0, {"a": None, "b": 4.0, "c": 2.0}, None, True))[2], "4.00 b")
        self.assertEqual(cells(row("x", 1.0, {"a": None}, 2.0))[1:], ["1.00", "-", "-", "≤ 2.0", "yes"])

    def test_digits(self):
        shown = [cells(row("", value))[1] for value in (1225.4, 55.93, 6.774, 0.1331, 128)]
        self.assertEqual(shown, ["1225", "55.9", "6.77", "0.133", "128"])

    def test_a_section(self):
        self.assertEqual(section("topic", "today", [row("a|b", 1.0)]), """\
## topic

today

| what | POE | best peer | ratio | target | met |
| --- | --- | --- | --- | --- | --- |
| a\\|b | 1.00 | - | - | - | - |
""")

    def test_the_line_above(self):
        machine = {"cpu": "AMD EPYC", "cores": 2, "kernel": "6.18.44-x", "system": "Debian 12", "date": "2026-11-24",
                   "mpich": "4.0.2-2+b1", "openmpi-bin": "4.1.4-3+b1", "libpmix2": "not installed"}
        self.assertEqual(header(machine, "./dev bench launch"),
                         "2026-11-24; 2 cores (AMD EPYC), Debian 12, Linux 6.18; MPICH 4.0.2, Open MPI 4.1.4; "
                         "`./dev bench launch`")


class Replacing(unittest.TestCase):
    TEXT = "# Results\n\nhead\n\n## a\n\nold a\n\n## a b\n\nold b\n\n## c\n\nold c\n"

    def test_only_its_section(self):
        self.assertEqual(replaced(self.TEXT, "a", "## a\n\nnew\n"), self.TEXT.replace("old a", "new"))
        self.assertEqual(replaced(self.TEXT, "a b", "## a b\n\nnew\n"), self.TEXT.replace("old b", "new"))
        self.assertEqual(replaced(self.TEXT, "c", "## c\n\nnew\n"), self.TEXT.replace("old c", "new"))

    def test_a_new_section_is_the_last(self):
        self.assertEqual(replaced(self.TEXT, "b", "## b\n\nnew\n"), self.TEXT + "\n## b\n\nnew\n")
        self.assertEqual(replaced("", "b", "## b\n"), "## b\n")

    def test_a_second_time_changes_nothing(self):
        new = section("a", "today", [row("x", 1.0)])
        once = replaced(self.TEXT, "a", new)
        self.assertEqual(replaced(once, "a", new), once)

    def test_a_file_is_replaced_in_one_step(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "RESULTS.md")
            path.write_text(self.TEXT)
            path.chmod(0o640)
            before = path.stat()
            write_table("a", "today", [row("x", 1.0, {"peer": 2.0}, 1.0)], path)
            self.assertIn("| x | 1.00 | 2.00 peer | 0.50 | ≤ 1.0 | yes |", path.read_text(encoding="utf-8"))
            self.assertIn("old c", path.read_text())
            self.assertNotEqual(path.stat().st_ino, before.st_ino)
            self.assertEqual(path.stat().st_mode, before.st_mode)
            self.assertEqual(os.listdir(folder), ["RESULTS.md"])

    def test_a_failure_leaves_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "RESULTS.md")
            path.write_text(self.TEXT)
            with mock.patch("os.replace", side_effect=OSError("no")), self.assertRaises(OSError):
                write_table("a", "today", [row("x", 1.0)], path)
            self.assertEqual(path.read_text(), self.TEXT)
            self.assertEqual(os.listdir(folder), ["RESULTS.md"])


class Document(unittest.TestCase):
    """What is in RESULTS.md now could have been written by write_table()."""

    def test_every_table_has_the_columns_and_consistent_rows(self):
        sections = re.split(r"(?m)^## ", RESULTS.read_text(encoding="utf-8"))[1:]
        self.assertGreater(len(sections), 10)
        for text in sections:
            lines = text.splitlines()
            topic = lines[0]
            self.assertEqual([lines[1], lines[3]], ["", ""], topic)
            self.assertRegex(lines[2], r"^\d{4}-\d\d-\d\d; ", topic)
            table = [line for line in lines[4:] if line]
            self.assertEqual(table[:2], section("", "", []).splitlines()[-2:], topic)
            self.assertGreater(len(table), 2, topic)
            for line in table[2:]:
                words = [word.strip() for word in line.strip("|").split("|")]
                self.assertEqual(len(words), len(COLUMNS), line)
                self.check_row(dict(zip(COLUMNS, words)), line)

    def check_row(self, found, line):
        missing = lambda word: None if word == "-" else word
        peer = found["best peer"].split(" ", 1)
        target = found["target"].replace("≥", ">=").replace("≤ ", "")
        again = cells({"what": found["what"], "ours": missing(found["POE"]), "peer": missing(peer[0]),
                       "peer_name": " ".join(peer[1:]), "ratio": missing(found["ratio"]), "target": missing(target)})
        self.assertEqual(again, list(found.values()), line)
        if "-" not in (found["POE"], peer[0], found["ratio"]):  # the figures are rounded, the ratio may not be
            ratio = float(found["ratio"])
            self.assertAlmostEqual(float(found["POE"]) / float(peer[0]), ratio, delta=0.03 * max(1, ratio), msg=line)


if __name__ == "__main__":
    unittest.main(verbosity=1)
