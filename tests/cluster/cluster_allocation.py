"""Where the nodes of a job come from when its host file does not name them: pools and later attempts.
Slurm: cluster_slurm.py."""

import re
import subprocess
import threading
import unittest

from hosts import HOSTS, POE, ClusterTest, clean_environment, command_on, main, testbed


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

    def test_no_slurm(self):
        result = subprocess.run(command_on(0, "/usr/bin/env", "PATH=/nowhere", POE, "hostname", "-resd", "yes"),
                                env=clean_environment(), capture_output=True, text=True, timeout=60)
        self.assertIn("cannot run salloc", self.ok(result, 1).stderr)

    def test_another_attempt(self):
        testbed("cut", 2)
        threading.Timer(2, testbed, ["mend", 2]).start()
        shell = "ssh -o ConnectTimeout=1 -o BatchMode=yes"
        result = self.ok(self.poe("hostname", "-procs", 2, "-retry", 1, "-retrycount", 30, "-hostfile",
                                  self.host_file([1, 2]), env={"MP_REMOTE_SHELL": shell}))
        self.assertEqual(sorted(result.stdout.split()), ["node1", "node2"])
        self.assertIn("trying again (-retry)", result.stderr)


if __name__ == "__main__":
    assert HOSTS in (0, 4)
    unittest.TestCase.maxDiff = 4000
    main(4)
