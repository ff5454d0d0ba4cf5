#!/usr/bin/env python3
"""Collective calls over several hosts with several tasks each: random calls on random groups against an
oracle, with the algorithms that are chosen there, in two levels or not."""

import pathlib
import re
import subprocess

from hosts import BUILD, ClusterTest, check_lambdas, main
from launching import SOURCE

PROGRAM = BUILD / "bin" / "mpl_collectives"
MPTUNE = BUILD / "bin" / "mptune"
TWO_LEVELS = {f"MP_COLL_{name}": "two-level" for name in
              ("BCAST", "REDUCE", "COMBINE", "PREFIX", "SCATTER", "GATHER", "CONCAT", "INDEX", "SYNC")}


class Collectives(ClusterTest):
    def calls(self, hosts, seed, **env):
        result = self.ok(self.poe(PROGRAM, seed, 3, 10, "-procs", len(hosts), "-hostfile", self.host_file(hosts), env=env))
        self.assertEqual(result.stderr, "")

    def test_each_hosts_tasks_next_to_each_other(self):
        for hosts, tasks_each in ((2, 2), (2, 4), (3, 3), (4, 4)):
            with self.subTest(hosts=hosts, tasks_each=tasks_each):
                self.calls([host for host in range(hosts) for _ in range(tasks_each)], 100 * hosts)

    def test_hosts_with_unequal_numbers_of_tasks(self):
        self.calls([0, 1, 1, 1, 2, 2], 500)
        self.calls([2, 2, 2, 0, 1, 1, 1, 1, 1], 600, **TWO_LEVELS)

    def test_two_levels_asked_for(self):
        self.calls([0, 0, 1, 1, 1, 3, 3], 700, **TWO_LEVELS)

    def test_barriers_around_two_levels(self):
        self.calls([0, 0, 0, 1, 1, 1], 800, MP_CCL_MODE="barrier", **TWO_LEVELS)
        self.calls([0, 0, 1, 1], 900, MP_EUIDEVELOP="yes", **TWO_LEVELS)

    def test_hosts_in_turns(self):
        # Then a node's ranks are not next to each other: leaders sort blocks, and where the order of ranks
        # counts there are no levels.
        self.calls([0, 1, 0, 1, 0, 1, 2], 1000)
        self.calls([0, 1, 0, 1, 2, 2], 1100, **TWO_LEVELS)

    def test_short_blocks_combined_by_a_plan(self):
        program, trace, plan = self.path("planned_calls"), self.path("run.trc"), self.path("run.plan")
        subprocess.run([BUILD / "bin/mpicc.poe", SOURCE / "tests/multiproc/planned_calls.c", "-g", "-o", program], check=True)
        for hosts in ([0, 1, 2, 3], [0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2], [0, 0, 1]):
            flags = ("-procs", len(hosts), "-hostfile", self.host_file(hosts))
            self.ok(self.poe(program, 6, 0, "short", *flags, "-tracelevel", 9, "-tracefile", trace))
            text = subprocess.run([BUILD / "bin/vt", "-plan", trace], check=True, capture_output=True, text=True).stdout
            lines = re.findall(r"(?m)^alltoallv .* schedule=combined radix=\d limit=\d+K? .*; combined, because \d messages of a "
                               r"member, predicted to take \d+ us, can be replaced by \d, predicted to take \d+ us$", text)
            self.assertEqual(len(lines), 3 if len(hosts) > 3 else 0, text)
            pathlib.Path(plan).write_text(re.sub(r"schedule=simple", "schedule=combined radix=2 limit=2K", text))
            # Rounds that are all alike; rounds that differ at random: lengths, order, root.
            for seed in (0, 1, 2, 3):
                with self.subTest(hosts=hosts, seed=seed):
                    without = self.ok(self.poe(program, 6, seed, "short", *flags))
                    result = self.ok(self.poe(program, 6, seed, "short", *flags, "-plan", plan, "-infolevel", 3))
                    self.assertEqual(result.stdout, without.stdout)
                    said = re.findall(r"Task \d: the plan for (.*) was followed in (.*)\.\n", result.stderr)
                    self.assertEqual(len(said), 3 * len(hosts), result.stderr)
                    self.assertEqual(len(set(said)), 3, said)
                    if seed == 0:
                        self.assertEqual({end for _, end in said}, {"6 of 6 calls"})

    def test_short_blocks_whose_lengths_change_are_combined(self):
        program, trace = self.path("planned_calls"), self.path("run.trc")
        subprocess.run([BUILD / "bin/mpicc.poe", SOURCE / "tests/multiproc/planned_calls.c", "-g", "-o", program], check=True)
        # With this seed, the lengths of one task in the first place change by more than a factor of 2.
        self.ok(self.poe(program, 6, 2, "short", "-procs", 4, "-hostfile", self.host_file([0, 1, 2, 3]), "-tracelevel", 9,
                         "-tracefile", trace))
        text = subprocess.run([BUILD / "bin/vt", "-plan", trace], check=True, capture_output=True, text=True).stdout
        self.assertEqual(len(re.findall(r"(?m)^alltoallv .* schedule=combined ", text)), 3, text)
        self.assertEqual(len(re.findall(r"# mean lengths, because they change; combined, because ", text)), 1, text)

    def test_calls_without_a_rule_share_a_combined_line(self):
        # With this seed, two places of MPI_COMM_WORLD change their order in the last round.
        program, trace, plan = self.path("planned_calls"), self.path("run.trc"), self.path("run.plan")
        subprocess.run([BUILD / "bin/mpicc.poe", SOURCE / "tests/multiproc/planned_calls.c", "-g", "-o", program], check=True)
        words = (program, 6, 1, "short", "-procs", 4, "-hostfile", self.host_file([0, 1, 2, 3]))
        without = self.ok(self.poe(*words, "-tracelevel", 9, "-tracefile", trace)).stdout
        self.assertIn("order 1", without)
        text = subprocess.run([BUILD / "bin/vt", "-plan", trace], check=True, capture_output=True, text=True).stdout
        self.assertRegex(text, r'(?m)^alltoallv group=0 .* first=0 every=1 calls=12 schedule=combined .* and other places"')
        self.assertEqual(len(re.findall(r"(?m)^alltoallv ", text)), 2, text)
        pathlib.Path(plan).write_text(text)
        result = self.ok(self.poe(*words, "-plan", plan, "-infolevel", 2))
        self.assertEqual(result.stdout, without)
        self.assertRegex(result.stderr, r"and other places .* was followed in 12 of 12 calls\.")

    def test_tuning_on_several_hosts(self):
        file = self.path("tuning")
        hosts = [0, 0, 0, 0, 1, 1, 1, 2, 2]
        flags = ("-procs", len(hosts), "-hostfile", self.host_file(hosts))
        result = self.ok(self.poe(MPTUNE, "-longest", "1k", "-o", file, *flags))
        self.assertIn(f"written to {file}\n", result.stdout)
        text = pathlib.Path(file).read_text()
        # The tasks of the first host measure memory; the first task of each host measures the network.
        for level, tasks in (("node", 4), ("network", 3)):
            self.assertIn(f"level {level}, {tasks} tasks\n", result.stdout)
            facts = re.search(rf"(?ms)^level {level}\n(.*?)(?=^level|\Z)", text).group(1)
            table = re.search(rf"(?ms)^level {level}, \d+ tasks\n(.*?)(?=^level|\Z)", result.stdout).group(1)
            self.assertEqual(re.findall(r"(?m)^ +(\d+) ", table), ["8", "256", "1024"])
            check_lambdas(self, table, facts)
            self.assertRegex(facts, r"(?m)^per_byte [\d.e+-]+$")
            self.assertGreater(float(re.search(r"(?m)^start_up (\S+)$", facts).group(1)), 0)
        # All hosts' tasks take it, with the same choices.
        self.calls(hosts, 1200, MP_TUNEFILE=file)
        for operation, length in (("sync", "0"), ("bcast", "64k"), ("index", "1k")):
            explained = self.ok(self.poe(MPTUNE, "-explain", operation, length, len(hosts), *flags, env={"MP_TUNEFILE": file}))
            self.assertEqual(len(re.findall(r"(?m) taken$", explained.stdout)), 1, explained.stdout)


if __name__ == "__main__":
    main(4)
