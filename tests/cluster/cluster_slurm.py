#!/usr/bin/env python3
"""Slurm itself on the hosts of the test bed: jobs that ask it for nodes, jobs inside of an allocation, batch
jobs, and MPL programs that srun starts."""

import json
import pathlib
import re
import shutil
import sys
import unittest

import hosts
import slurm
from hosts import BUILD, EXAMPLES, HOSTS, POE, SANITIZED, ClusterTest, main, wait_for
from slurm import on


def setUpModule():
    slurm.begin()


def pairs(text):
    return sorted(re.findall(r"^ *(\d+):(\S+)$", text, re.M))


class Slurm(ClusterTest):
    def tearDown(self):
        wait_for(lambda: not on("squeue", "-h").stdout, "Slurm to have its nodes back")
        super().tearDown()

    def test_nodes_of_slurm(self):
        got = self.ok(self.poe("hostname", "-labelio", "yes", "-resd", "yes", "-nodes", 3, "-tasks_per_node", 2))
        names = [name for _, name in pairs(got.stdout)]
        self.assertEqual((len(names), len(set(names))), (6, 3))
        self.assertEqual(names[0::2], names[1::2])

    def test_the_map_of_a_dry_run_is_of_slurms_nodes(self):
        for flags in (["-resd", "yes", "-nodes", 3], ["-batch", "-nodes", 3], ["-resd", "yes", "-rmpool", "small"],
                      ["-batch", "-rmpool", "small"]):
            got = self.ok(self.poe("-procs", 3, *flags, "--dry-run", "hostname"))
            names = re.findall(r"^ *\d+  (node\d)  hostname$", got.stdout, re.M)
            self.assertEqual((len(names), len(set(names))), (3, 1 if "small" in flags else 3), got.stdout)
            self.assertTrue("small" not in flags or names[0] == f"node{HOSTS - 1}", got.stdout)

    def test_a_host_file_with_names_beside_slurm(self):
        got = self.ok(self.poe("hostname", "-procs", 3, "-resd", "yes", "-nodes", 3, "-hostfile", self.host_file([0, 0, 0])))
        self.assertEqual(len(set(got.stdout.split())), 3)
        self.assertRegex(got.stderr, r"^ATTENTION: 0031-\d+  the host file \S+/hosts is ignored: with -resd yes Slurm chooses the nodes\n$")

    def test_a_pool_is_a_partition(self):
        got = self.ok(self.poe("hostname", "-procs", 2, "-resd", "yes", "-rmpool", "small"))
        self.assertEqual(got.stdout.split(), [f"node{HOSTS - 1}"] * 2)

    def test_a_pool_that_slurm_does_not_have(self):
        got = self.poe("hostname", "-procs", 1, "-resd", "yes", "-rmpool", "huge")
        self.assertNotEqual(got.returncode, 0)
        self.assertIn("huge", got.stderr)
        self.assertIn("partition", got.stderr)

    def test_inside_an_allocation(self):
        got = self.ok(on("salloc", "-Q", "-N3", "--ntasks-per-node=1", POE, "hostname", "-labelio", "yes",
                         cwd=self.folder.name))
        self.assertEqual(len({name for _, name in pairs(got.stdout)}), 3)
        dry = self.ok(on("salloc", "-Q", "-N2", "--ntasks-per-node=2", POE, "hostname", "--dry-run", cwd=self.folder.name))
        self.assertEqual(len(re.findall(r"^ *\d+  node\d ", dry.stdout, re.M)), 4)

    def test_how_to_leave_an_allocation_alone(self):
        for flags in (["-resd", "no"], ["-hostfile", "NULL"]):
            got = self.ok(on("salloc", "-Q", "-N3", POE, "hostname", "-procs", "2", *flags, cwd=self.folder.name))
            self.assertEqual(got.stdout.split(), ["node0"] * 2, flags)

    @unittest.skipIf(SANITIZED or shutil.which("gdb") is None, "needs gdb, and programs without sanitizers")
    def test_pdbx_on_nodes_of_slurm(self):
        script = self.write("commands", "break range_of\ncont\nprint task\n")
        pdbx = [BUILD / "bin" / "pdbx", "-batch", "-x", script, EXAMPLES / "bugs" / "wrong_index", "-procs", 6]
        for command in (["salloc", "-Q", "-N3", *pdbx], [*pdbx, "-resd", "yes", "-nodes", 3]):
            got = on(*map(str, command), cwd=self.folder.name)
            said = [json.loads(line) for line in got.stdout.splitlines()]
            values = {answer["text"]: answer["tasks"] for report in said if report.get("command") == "print task"
                      for answer in report.get("answers", [])}
            self.assertEqual(values, {str(task): [task] for task in range(6)}, got.stdout + got.stderr)

    def test_a_deep_tree(self):
        got = self.ok(self.poe("hostname", "-resd", "yes", "-nodes", HOSTS, env={"MP_LAUNCH_FANOUT": 1}))
        self.assertEqual(sorted(got.stdout.split()), [f"node{host}" for host in range(HOSTS)])

    def test_messages_between_nodes(self):
        got = self.ok(self.poe(EXAMPLES / "ring", "-procs", HOSTS, "-resd", "yes", "-nodes", HOSTS))
        self.assertEqual(len(re.findall(r"got \d+ from task", got.stdout)), HOSTS)

    def test_batch_in_a_pool(self):
        for number, flags in enumerate((["-rmpool", "small"], ["-hostfile", self.write("pool", "@small\n")])):
            out = self.path(f"slurm.{number}.out")
            self.ok(self.poe("-batch", "hostname", "-procs", 2, *flags, env={"SBATCH_OUTPUT": out}))
            wait_for(lambda: not on("squeue", "-h").stdout, "the batch job to end")
            self.assertEqual(pathlib.Path(out).read_text().split(), [f"node{HOSTS - 1}"] * 2, flags)

    def test_batch(self):
        out = self.path("slurm.out")
        got = self.ok(self.poe("-batch", "sh", "-c", "echo $(hostname) two words", "-labelio", "yes", "-nodes", 2,
                               "-tasks_per_node", 1, env={"SBATCH_OUTPUT": out}))
        number = re.search(r"\d+", got.stdout)
        self.assertTrue(number, got.stdout)
        wait_for(lambda: not on("squeue", "-h", "-j", number[0]).stdout, "the batch job to end")
        text = pathlib.Path(out).read_text()
        self.assertEqual(len(set(re.findall(r"^ *\d+:(node\d two words)$", text, re.M))), 2, text)

    def test_a_cancelled_job_leaves_nothing(self):
        job = self.start("sleep", 1000, "-procs", 3, "-resd", "yes", "-nodes", 3)
        try:
            wait_for(lambda: sum(text.startswith("sleep 1000") for host in range(HOSTS)
                                 for text in hosts.host_processes(host).values()) == 3, "the tasks to run")
        finally:
            self.assertEqual(on("scancel", "--partition=main").returncode, 0)
            _, err = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0)
        self.assertTrue(err)

    def test_death_of_a_task_gives_the_nodes_back(self):
        got = self.poe("sh", "-c", "[ $MP_CHILD = 1 ] && kill -9 $$; sleep 1000", "-procs", 3, "-resd", "yes", "-nodes", 3)
        self.assertEqual(got.returncode, 137)
        self.assertIn("task 1", got.stderr)

    def test_open_mpi(self):
        """In an allocation, and where munge runs, the tasks of Open MPI are one job, and nothing is said."""
        got = self.ok(self.poe(hosts.BUILD / "bin" / "pmi_allreduce.openmpi", "-procs", 3, "-resd", "yes", "-nodes", 3))
        self.assertEqual((got.stdout, got.stderr), ("sum of 3 ranks is 3\n", ""))

    def test_srun_starts_tasks(self):
        for flags in (["--mpi=pmix"], ["--mpi=pmi2"]):
            got = self.ok(on("srun", *flags, "-N", "2", "-n", "4", EXAMPLES / "ring", cwd=self.folder.name))
            found = sorted(re.findall(r"^task (\d+) of (\d+) .* got (\d+) from task (\d+)$", got.stdout, re.M))
            self.assertEqual(found, [(str(i), "4", str(i if i else 4), str((i or 4) - 1)) for i in range(4)], flags)

    def test_srun_starts_tasks_of_mpi(self):
        program = hosts.BUILD / "bin" / "mpi_collective_operations"
        for flags in (["--mpi=pmix"], ["--mpi=pmi2"]):
            got = self.ok(on("srun", *flags, "-N", "2", "-n", "4", program, cwd=self.folder.name))
            self.assertEqual((got.stdout, got.stderr), ("", ""), flags)
            got = self.ok(on("srun", *flags, "-N", "2", "-n", "4", hosts.BUILD / "bin" / "mpi_point_requests",
                             cwd=self.folder.name))
            self.assertEqual((got.stdout, got.stderr), ("", ""), flags)


if __name__ == "__main__":
    if not slurm.installed():
        print("skipped: no Slurm; ./dev test installs it")
        sys.exit(77)
    main(4)
