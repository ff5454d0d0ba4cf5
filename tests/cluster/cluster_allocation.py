"""Where the nodes of a job come from when its host file does not name them: pools and later attempts.
Slurm: cluster_slurm.py."""

import json
import re
import subprocess
import unittest

from hosts import DEADLINE, HOSTS, POE, ClusterTest, clean_environment, command_on, main, testbed


class Allocation(ClusterTest):
    def nodes(self, *args, **options):
        result = self.ok(self.poe("hostname", "-labelio", "yes", *args, **options))
        self.assertEqual(result.stderr, "")
        found = dict(re.findall(r"^ *(\d+):(\S+)$", result.stdout, re.M))
        dry = self.ok(self.poe("hostname", "--dry-run", *args, **options))
        self.assertEqual(dict(re.findall(r"^ *(\d+)  (\S+) ", dry.stdout, re.M)), found)
        return [found[str(task)] for task in range(len(found))]

    def pools(self):
        return {"MP_POOLFILE": self.write("pools", "! two of them\nlarge node1 node2 node3\nsmall node0\n")}

    def test_pool(self):
        self.assertEqual(self.nodes("-procs", 2, "-rmpool", "large", env=self.pools()), ["node1", "node2"])
        self.assertEqual(self.nodes("-nodes", 2, "-tasks_per_node", 2, "-rmpool", "large", env=self.pools()),
                         ["node1", "node1", "node2", "node2"])

    def test_pools_of_a_host_file(self):
        hosts = self.write("mine", "@small\n@large\n")
        saved = self.path("saved")
        self.assertEqual(self.nodes("-procs", 3, "-hostfile", hosts, "-savehostfile", saved, env=self.pools()),
                         ["node0", "node1", "node2"])
        self.assertEqual(self.nodes("-procs", 3, "-hostfile", saved), ["node0", "node1", "node2"])

    def test_what_pools_cannot_give(self):
        for args, words in [(("-nodes", 4, "-rmpool", "large"), "pool large: it has 3 nodes"),
                            (("-procs", 1, "-rmpool", "huge"), "expected one of large, small"),
                            (("-nodes", 2), "nothing says which 2 nodes"),
                            (("-tasks_per_node", 2), "expected -nodes or -procs")]:
            with self.subTest(args=args):
                self.assertIn(words, self.ok(self.poe("hostname", *args, env=self.pools()), 1).stderr)

    def hold(self, *args):
        """Starts a job that runs until its input ends."""
        job = subprocess.Popen(command_on(0, POE, "cat", *args), env=clean_environment(**self.pools()), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        job.stdin.write("here\n")
        job.stdin.flush()
        self.assertEqual(job.stdout.readline(), "here\n")
        return job

    def pools_now(self):
        result = subprocess.run(command_on(0, POE.removesuffix("poe") + "poestat", "-pools"), env=clean_environment(**self.pools()),
                                capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return {tuple(line.split()[:2]): line.split(maxsplit=2)[2] for line in result.stdout.splitlines()[1:]}

    def test_a_node_that_another_job_has_reserved(self):
        free = {("large", node): "free" for node in ("node1", "node2", "node3")} | {("small", "node0"): "free"}
        self.assertEqual(self.pools_now(), free)
        job = self.hold("-procs", "1", "-hostfile", self.host_file([1]), "-cpu_use", "unique", "-stdoutmode", "0")
        now = self.pools_now()
        self.assertRegex(now[("large", "node1")], r"^processors reserved by a job of user 0 \(pmd \d+\), adapter shared$")
        # By name: there is no other node.
        result = self.ok(self.poe("hostname", "-procs", 1, "-hostfile", self.host_file([1])), 1)
        self.assertRegex(result.stderr, r"node node1: its processors cannot be used: reserved by a job of user 0 \(pmd \d+\)")
        # From a pool: another node takes its place.
        result = self.ok(self.poe("hostname", "-procs", 2, "-rmpool", "large", env=self.pools()))
        self.assertEqual(sorted(result.stdout.split()), ["node2", "node3"])
        self.assertIn("other jobs use node1; trying other nodes of the pool", result.stderr)
        # There are not enough others.
        result = self.ok(self.poe("hostname", "-nodes", 3, "-rmpool", "large", env=self.pools()), 1)
        self.assertIn("its processors cannot be used", result.stderr)
        job.communicate("", timeout=60)
        self.assertEqual(job.returncode, 0)
        self.assertEqual(self.pools_now(), free)

    def test_the_load_of_nodes_without_a_job(self):
        result = subprocess.run(command_on(0, POE.removesuffix("poe") + "poestat", "-nodes", "-json"), env=clean_environment(**self.pools()),
                                capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        loads = {load["node"]: load for load in json.loads(result.stdout)}
        self.assertEqual(set(loads), {"node0", "node1", "node2", "node3"})
        for node, load in loads.items():
            self.assertGreater(load["memory"], 1 << 20)
            self.assertTrue(0 <= load["user"] < 2, (node, load))  # a share, measured by ticks of the clock
            self.assertLessEqual({"system", "net_in", "packets_out", "switches", "faults"}, set(load))
        # One node of a host file is cut off; another one is asked in any case.
        testbed("cut", 2)
        self.addCleanup(testbed, "mend", 2)
        result = subprocess.run(command_on(0, POE.removesuffix("poe") + "poestat", "-nodes", self.host_file([1, 2])),
                                env=clean_environment(MP_REMOTE_SHELL=self.impatient_shell(2)), capture_output=True, text=True,
                                timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [line.split(maxsplit=2) for line in result.stdout.splitlines()]
        self.assertEqual(lines[0][:2], ["node", "user"])
        self.assertEqual((lines[1][0], lines[2][0]), ("node1", "node2"))
        self.assertRegex(lines[1][1], r"^\d+$")
        self.assertEqual(" ".join(lines[2][1:]), "no answer")

    def impatient_shell(self, host):
        """A remote shell that tries to connect to this host for a second only."""
        return self.write("shell", f'#!/bin/sh\n[ "$1" != node{host} ] || set -- -o ConnectTimeout=1 "$@"\n'
                                   'exec ssh -o BatchMode=yes "$@"\n', 0o755)

    def poe_that_tries_again(self, change, *args, **options):
        """Runs poe with attempts until it succeeds, and calls change() when the first one has failed."""
        process = self.start(*args, "-retry", 1, "-retrycount", 100, **options)
        said = ""
        while "trying again (-retry)" not in said:
            line = process.stderr.readline()
            self.assertNotEqual(line, "", said)
            said += line
        change()
        out, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 0, said + err)
        return out

    def test_waiting_for_a_node(self):
        job = self.hold("-procs", "1", "-hostfile", self.write("own", "node2 dedicated\n"), "-stdoutmode", "0")
        self.assertRegex(self.pools_now()[("large", "node2")], r"^processors shared, adapter reserved by a job of user 0 ")
        out = self.poe_that_tries_again(job.stdin.close, "hostname", "-procs", 1, "-hostfile", self.host_file([2]))
        self.assertEqual(out, "node2\n")
        self.assertEqual(job.wait(60), 0)
        # Jobs that share a node do not give it to one that wants it for itself.
        job = self.hold("-procs", "1", "-hostfile", self.host_file([3]), "-stdoutmode", "0")
        self.ok(self.poe("hostname", "-procs", 1, "-hostfile", self.host_file([3])))
        result = self.ok(self.poe("hostname", "-procs", 1, "-hostfile", self.host_file([3]), "-adapter_use", "dedicated"), 1)
        self.assertIn("its adapter cannot be reserved: used by other jobs", result.stderr)
        job.stdin.close()
        self.assertEqual(job.wait(60), 0)

    def test_no_slurm(self):
        result = subprocess.run(command_on(0, "/usr/bin/env", "PATH=/nowhere", POE, "hostname", "-resd", "yes"),
                                env=clean_environment(), capture_output=True, text=True, timeout=60)
        self.assertIn("cannot run salloc", self.ok(result, 1).stderr)

    def test_another_attempt(self):
        testbed("cut", 2)
        out = self.poe_that_tries_again(lambda: testbed("mend", 2), "hostname", "-procs", 2, "-hostfile", self.host_file([1, 2]),
                                        env={"MP_REMOTE_SHELL": self.impatient_shell(2)})
        self.assertEqual(sorted(out.split()), ["node1", "node2"])


if __name__ == "__main__":
    assert HOSTS in (0, 4)
    unittest.TestCase.maxDiff = 4000
    main(4)
