#!/usr/bin/env python3
"""mcp, mcpscat and mcpgath between hosts, each of which has a /dev/shm of its own."""

import hashlib
import pathlib
import random
import subprocess

from hosts import BUILD, DEADLINE, POE, ClusterTest, clean_environment, command_on, main

NODES = 4


class CopyTest(ClusterTest):
    def copy(self, program, *args):
        """Runs on host 0, with a task on each node; PATH leads to poe, which the programs start."""
        command = command_on(0, "env", f"PATH={pathlib.Path(POE).parent}:/usr/bin:/bin", BUILD / "bin" / program, *args,
                             "-procs", NODES, "-hostfile", self.host_file(range(NODES)))
        result = subprocess.run(command, env=clean_environment(), cwd=self.folder.name, capture_output=True, text=True,
                                timeout=DEADLINE)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def on(self, host, script):
        return subprocess.run(command_on(host, "sh", "-c", script), check=True, capture_output=True, text=True,
                              timeout=DEADLINE).stdout

    def test_there_and_back(self):
        data = random.Random(5).randbytes(3_000_001)
        pathlib.Path(self.path("data")).write_bytes(data)
        pathlib.Path(self.path("tree/sub")).mkdir(parents=True)
        for number in range(6):
            pathlib.Path(self.path(f"tree/sub/file{number}")).write_bytes(data[:number * 1000])
        self.copy("mcp", "data", "/dev/shm/data")
        self.copy("mcp", "tree", "/dev/shm/tree")
        sums = {self.on(host, "sha1sum /dev/shm/data; cat /dev/shm/tree/sub/* | sha1sum") for host in range(NODES)}
        self.assertEqual(len(sums), 1)
        self.assertIn(hashlib.sha1(data).hexdigest(), sums.pop())

        self.copy("mcpscat", "tree/sub", "/dev/shm/dealt")
        dealt = [self.on(host, "ls /dev/shm/dealt").split() for host in range(NODES)]
        self.assertEqual(dealt, [["file0", "file4"], ["file1", "file5"], ["file2"], ["file3"]])

        for host in range(NODES):
            self.on(host, f"echo from node{host} > /dev/shm/result")
        self.copy("mcpgath", "-a", "/dev/shm/result", "/dev/shm/deal*", "all")
        for host in range(NODES):
            self.assertEqual(pathlib.Path(self.path(f"all/result.{host}")).read_text(), f"from node{host}\n")
            self.assertEqual(sorted(p.name for p in pathlib.Path(self.path(f"all/dealt.{host}")).iterdir()), dealt[host])


if __name__ == "__main__":
    main(NODES)
