#!/usr/bin/env python3
"""The tables of tests/bench/RESULTS.md: how rows are formatted, how one section is replaced, and which rows the
benchmarks make of what they measure. Nothing is measured."""

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

import bench
import cluster_bench
import coll_bench
import coll_hosts_bench
import coll_irregular_bench
import comm_bench
import launch_bench
import packages_bench
import progress_bench
import stdio_bench
from measuring import Measured, measured
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

    def test_a_target_that_is_missed_by_noise(self):
        ours, near, far = (Measured(values) for values in ((1.9, 2.2, 3.0), (1.5, 2.0, 2.4), (1.5, 1.7, 1.8)))
        self.assertEqual(cells(row("x", ours, {"MPICH": near}, 1.0))[1:], ["2.20", "2.00 MPICH", "1.10", "≤ 1.0", "noise: 0.792 to 2.00"])
        self.assertEqual(cells(row("x", ours, {"MPICH": far}, 1.0))[5], "no")
        self.assertEqual(cells(row("x", ours, {"MPICH": near, "Open MPI": 1.8}, 1.0))[5], "no")
        self.assertEqual(cells(row("x", ours, {"MPICH": far}, 1.5))[5], "yes")
        self.assertEqual(cells(row("MB/s", far, {"MPICH": near}, ">= 1.0", True))[5], "noise: 0.625 to 1.20")
        self.assertEqual(cells(row("x", ours, None, 2.0))[1:], ["2.20", "-", "-", "≤ 2.0", "noise: 1.90 to 3.00"])
        self.assertEqual(cells(row("x", ours.times(1e3), None, 2000.0))[5], "noise: 1900 to 3000")
        self.assertEqual(cells(row("x", ours.times(1e3), None, 1800.0))[5], "no")
        self.assertEqual((measured([None, 3, 1]), measured([None])), (2, None))

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
        self.assertEqual(cells(row("x", 1.0, {"a": None}, 2.0))[1:], ["1.00", "-", "-", "-", "-"])
        self.assertEqual(cells(row("x", 1.0, {}, 2.0))[1:], ["1.00", "-", "-", "≤ 2.0", "yes"])

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

    def test_a_row_without_figures_is_left_out(self):
        rows = [row("a", None, {"MPICH": None}, 1.0), row("b", None, {"MPICH": 2.0}, 1.0)]
        self.assertEqual(section("", "", rows), section("", "", rows[1:]))

    def test_the_line_above(self):
        machine = {"cpu": "AMD EPYC", "cores": 2, "kernel": "6.18.44-x", "system": "Debian 12", "date": "2026-11-24",
                   "mpich": "4.0.2-2+b1", "openmpi-bin": "4.1.4-3+b1", "libpmix2": "not installed"}
        self.assertEqual(header(machine, "./dev bench launch"),
                         "2026-11-24; 2 cores (AMD EPYC), Debian 12, Linux 6.18; MPICH 4.0.2, Open MPI 4.1.4; "
                         "`./dev bench launch`")


class States(unittest.TestCase):
    """The state of the cores changes between launches, and only figures of one state are compared."""

    def measured(self, launches):
        """operation() with the next of these results at each launch, and the number of launches."""
        with mock.patch.object(comm_bench, "launch", side_effect=launches) as launch:
            return comm_bench.operation({"POE": "p", "MPICH": "m"}, "pingpong", (8,), launches=1), launch.call_count

    def test_launches_until_all_have_met_one_state(self):
        near, far = ({(8, state): value} for state, value in (("near", 1.0), ("far", 3.0)))
        self.assertEqual(self.measured([far, near, far, far]), ({"far": {"POE": {8: 3.0}, "MPICH": {8: 3.0}}}, 4))
        self.assertEqual(self.measured([far, near] * comm_bench.PATIENT), ({}, 2 * comm_bench.PATIENT))

    def test_a_failed_run_is_not_repeated(self):
        near = {(8, "near"): 1.0}
        self.assertEqual(self.measured([near, None]), ({"near": {"POE": {8: 1.0}, "MPICH": {8: None}}}, 2))


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
        # The table does not have the ranges that tell noise from a miss, but the range of the ratio reaches the target.
        noise = re.fullmatch(r"noise: ([0-9.]+) to ([0-9.]+)", found["met"])
        self.assertEqual(again, [*list(found.values())[:-1], "no" if noise else found["met"]], line)
        if noise:
            limit = float(target.removeprefix(">= "))
            self.assertTrue(float(noise[2]) >= limit if target.startswith(">=") else float(noise[1]) <= limit, line)
        if "-" not in (found["POE"], peer[0], found["ratio"]):  # the figures are rounded, the ratio may not be
            ratio, ours, best = (float(word) for word in (found["ratio"], found["POE"], peer[0]))
            rounding = lambda word: 0.5 * 10.0 ** -len(word.partition(".")[2])
            least = (ours - rounding(found["POE"])) / (best + rounding(peer[0]))
            most = (ours + rounding(found["POE"])) / max(best - rounding(peer[0]), 1e-9)
            slack = 0.03 * max(1, ratio)
            self.assertTrue(least - slack <= ratio <= most + slack, line)


class Benchmarks(unittest.TestCase):
    """The rows that benchmarks make of what they have measured."""

    def test_launches(self):
        rows = launch_bench.rows_of({
            "true": {32: medians(poe=0.0176, hydra=0.0237, mpirun=None, spawn=0.0142)},
            "hello": {1: medians(poe_MPL=0.005, mpiexec_MPICH=0.043, mpirun_Open_MPI=0.333, poe_Open_MPI=0.112,
                                 poe_MPICH=0.04)}})
        self.assertEqual(cells(rows[0]), ["32 × /bin/true, ms", "17.6", "23.7 hydra", "0.74", "≤ 0.7", "no"])
        self.assertEqual(cells(rows[1])[1:4], ["17.6", "14.2 bare loop", "1.24"])
        self.assertEqual(cells(rows[2]), ["hello of 1 task, MPL, ms", "5.00", "43.0 mpiexec", "0.12", "≤ 0.1", "no"])

    def test_launches_over_hosts(self):
        found = {"ssh tree": {"median": 1.205}, "poe": {"median": 1.225}, "ssh tree, X25519": {"median": 0.343},
                 "poe, X25519": {"median": 0.386}, "hydra": {"median": 1.204},
                 "mpirun": {"median": 1.652}, "ratio": 1.02}
        rows = [cells(one) for one in cluster_bench.launch_rows({16: found})]
        self.assertEqual(rows[0][1:], ["1225", "1204 hydra", "1.02", "-", "-"])
        self.assertEqual(rows[1][1:], ["1225", "1205 bare tree", "1.017", "≤ 1.03", "yes"])
        slurm = medians(srun=0.193, poe=0.317, poe_MPL=0.359, srun_MPICH=None, srun_Open_MPI=1.045, poe_MPICH=None,
                        poe_Open_MPI=1.03)
        rows = [cells(one) for one in cluster_bench.slurm_rows({16: {"given": slurm, "own": slurm}})]
        self.assertEqual(len(rows), 8)
        self.assertEqual(rows[1][1:], ["359", "1045 srun, Open MPI", "0.34", "≤ 0.7", "yes"])
        rows = cluster_bench.stdio_rows({16: medians(poe=202.0, hydra=29.0, mpirun=57.0)}, {"tasks": 4, "mbytes": 64})
        self.assertEqual(cells(rows[0])[1:], ["202", "57.0 mpirun", "3.54", "≥ 2.0", "yes"])

    def test_streams(self):
        rates = medians(pipe=2863.0, poe=1198.0, hydra=1227.0, mpirun=141.0, poe_labelled=1193.0, hydra_labelled=89.0,
                        mpirun_labelled=123.0)
        torn = {"poe": 0, "hydra": 0, "mpirun": 46443, "poe labelled": 0, "hydra labelled": 0}
        rows = [cells(one) for one in stdio_bench.rows_of({"rates": rates, "torn": torn, "memory_kb": {"poe": 24576}})]
        self.assertEqual(rows[0][1:], ["1198", "1227 hydra", "0.98", "≥ 1.0", "no"])
        self.assertEqual(rows[2][1:], ["1193", "123 mpirun", "9.70", "≥ 2.0", "yes"])
        self.assertEqual(rows[3][1:], ["0", "0 hydra", "-", "≤ 0", "yes"])
        self.assertEqual(rows[-1], ["peak memory of poe, MB", "24.0", "-", "-", "≤ 64", "yes"])

    def test_messages(self):
        def by_size(targets):
            return {"near": {name: {size: value for size in targets} for name, value in
                             (("MPL", 1.0), ("MPICH", 3.0), ("Open MPI", 2.0))}}
        one = {"MPL": {0: 1.0, 8: 2.24, 10000: 1.05, 1048576: 163.0}, "Open MPI": {8: 4000.0},
               "bare TCP": {8: 4.36, 1048576: 259.0}}
        results = {"limits": {"yield_one_core": 1.83},
                   "pingpong": by_size(comm_bench.PINGPONG), "stream": by_size(comm_bench.STREAM),
                   "sendrecv": by_size(comm_bench.BOTH_WAYS), "exchange": by_size(comm_bench.BOTH_WAYS),
                   "unexpected": {"near": one}, "posted": {"near": one}, "one_core": {"any": one},
                   "tcp": {"near": one},
                   **{f"sync_{tasks}": {"MPL": 1.0, "Open MPI": 2.0} for tasks in comm_bench.SYNC_TARGETS}}
        rows = [cells(one) for one in comm_bench.rows_of(results)]
        self.assertEqual(rows[0], ["half a round trip, 0 B, near, µs", "1.00", "2.00 Open MPI", "0.500", "≤ 0.65",
                                   "yes"])
        self.assertIn(["half a round trip, 8 B, both tasks on one core, µs", "2.24", "1.83 sched_yield", "1.22",
                       "≤ 1.2", "no"], rows)
        self.assertEqual(rows[-1][1:], ["163", "259 bare TCP", "0.629", "≤ 1.05", "yes"])

    def test_collective_calls(self):
        rows = [cells(one) for one in coll_bench.rows_of({
            "bcast 8 2": {"MPL": 1.0, "MPICH": 4.0, "Open MPI": 2.0, "ratio": 0.5},
            "sync 8 16": {"MPL": 24.0, "MPICH": None, "Open MPI": None, "ratio": None}})]
        self.assertEqual(rows[0], ["geometric mean of 1 cells", "-", "-", "0.50", "≤ 0.4", "no"])
        self.assertEqual(rows[2], ["bcast, 8 B, 2 tasks, µs", "1.00", "2.00 Open MPI", "0.50", "≤ 1.0", "yes"])
        self.assertEqual(rows[3][:4], ["sync, 16 tasks, µs", "24.0", "-", "-"])

    def test_collective_calls_over_hosts_and_irregular(self):
        times = {"MPL": 124.0, "not tuned": 121.0, "MPICH": None, "Open MPI": 337.0}
        peers = {f"{operation} {size}": times for operation, size, _ in coll_hosts_bench.CELLS}
        trees = {"times": {"tuned": 20.6, "binomial": 23.0, "lambda:8": 21.2, "lambda:16": 19.6, "lambda:32": None}}
        rows = [cells(one) for one in coll_hosts_bench.rows_of(peers, trees, 16)]
        self.assertEqual(rows[0][1:], ["124", "337 Open MPI", "0.368", "≤ 0.45", "yes"])
        self.assertEqual(rows[-2][1:], ["19.6", "23.0 binomial", "0.852", "≤ 0.85", "no"])
        self.assertEqual(len(coll_hosts_bench.rows_of(peers, None, 16)), len(rows) - 2)
        cell = {"peers": {"MPL": 82.0, "MPICH": 156006.0, "Open MPI": 128.0}, "agreed": 19, "pairs": 19}
        rows = [cells(one) for one in coll_irregular_bench.rows_of({"1 16": cell})]
        self.assertEqual(rows[0], ["pattern 1, 16 tasks, µs", "82.0", "128 Open MPI", "0.64", "≤ 1.0", "yes"])
        self.assertEqual(rows[1][1:], ["19", "-", "-", "≥ 19", "yes"])

    def test_packages_and_progress(self):
        rows = packages_bench.rows_of({"HPCC": medians(poe=1.0, mpirun=2.0)})
        self.assertEqual(cells(rows[0]), ["HPCC, s", "1.00", "2.00 mpirun", "0.500", "≤ 1.02", "yes"])
        rows = [cells(one) for one in progress_bench.rows_of({
            "gap": {"single copy": [[3970, 4296]], "MP_SINGLE_COPY=no": [[3920, 4289]]},
            "compute": {"thread": [[554800]], "no thread": [[563100]]},
            "calls": {"thread": [[0.489]], "no thread": [[0.48]]}, "late": [12.9, 10.3, 18.1]})]
        self.assertEqual(rows[0][1:], ["3.97", "3.92 MP_SINGLE_COPY=no", "1.01", "≤ 1.2", "yes"])
        self.assertEqual(rows[2][1:], ["555", "563 no thread", "0.9853", "≤ 1.001", "yes"])
        self.assertEqual(rows[4][1], "12.9")

    def test_only_whole_benchmarks_are_recorded(self):
        for words in (["markers"], ["collectives", "bcast"], ["cluster-launch", "--hosts", "16"]):
            with self.subTest(words), self.assertRaises(SystemExit):
                bench.check_recorded(bench.jobs(words))
        for words in (["launch", "stdio"], ["collectives"], ["collectives", "apart"], ["cluster-stdio"]):
            with mock.patch.object(bench, "SHORT", False):
                bench.check_recorded(bench.jobs(words))

    def test_record(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "RESULTS.md")
            with mock.patch.object(bench.results, "RESULTS", path), mock.patch.object(bench, "SHORT", False), \
                 mock.patch.dict(bench.BENCHES, {"launch": lambda: [row("x", 1.0)]}):
                with mock.patch.object(sys, "argv", ["bench.py", "launch"]):
                    bench.main()
                self.assertFalse(path.exists())
                with mock.patch.object(sys, "argv", ["bench.py", "launch", "--record"]):
                    bench.main()
            self.assertIn("## launch\n", path.read_text(encoding="utf-8"))
            self.assertIn("`./dev bench launch`", path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
