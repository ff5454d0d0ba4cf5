"""Standard streams of 16 hosts with 4 tasks each, and ending jobs by hand."""

import glob
import os
import re
import signal
import subprocess
import unittest

from hosts import BUILD, HOSTS, SANITIZED, ClusterTest, command_on, host_processes, main, wait_for

TASKS = 64


class Streams(ClusterTest):
    def all_hosts(self, *args, **options):
        return self.ok(self.poe(*args, "-procs", TASKS, "-hostfile", self.host_file(range(16), 4), **options))

    def test_labels(self):
        result = self.all_hosts("sh", "-c", "echo one; echo two", "-labelio", "yes",
                                env={"MP_LABELFORMAT": "%h/%R|", "MP_LAUNCH_FANOUT": 4})
        self.assertEqual(sorted(result.stdout.split("\n"))[1:], sorted(
            f"node{task // 4}/{task:02}|{word}" for task in range(TASKS) for word in ("one", "two")))

    def test_one_task(self):
        self.assertEqual(self.all_hosts("sh", "-c", "echo $MP_CHILD", "-stdoutmode", 37).stdout, "37\n")

    def test_ordered(self):
        self.assertEqual(self.all_hosts("sh", "-c", "echo $MP_CHILD", "-stdoutmode", "ordered").stdout,
                         "".join(f"{task}\n" for task in range(TASKS)))

    def test_files(self):
        self.all_hosts("sh", "-c", "echo out $MP_CHILD; echo err $MP_CHILD >&2", "-outfile", "out.%R", "-errfile", "err.%h")
        self.assertEqual(sorted(glob.glob("out.*", root_dir=self.folder.name)), [f"out.{task:02}" for task in range(TASKS)])
        for task in range(TASKS):
            with open(self.path(f"out.{task:02}")) as file:
                self.assertEqual(file.read(), f"out {task}\n")
        for host in range(16):
            with open(self.path(f"err.node{host}")) as file:
                self.assertEqual(sorted(file.read().split("\n"))[1:], sorted(f"err {host * 4 + i}" for i in range(4)))

    def test_files_that_cannot_be(self):
        result = self.ok(self.poe("hostname", "-outfile", "/no/such/%r"), 1)
        self.assertIn("/no/such/0", result.stderr)
        self.assertIn("%q means nothing", self.ok(self.poe("hostname", "-outfile", "%q"), 1).stderr)

    def test_folded(self):
        script = '[ $MP_CHILD != 9 ] || echo I am nine; echo the same'
        result = self.all_hosts("sh", "-c", script, "-stdoutmode", "folded")
        # Tasks start one after another on slow computers: nobody is lost, and nine says what it says first.
        told = []
        for ranges in re.findall(r"^([\d,-]+): the same$", result.stdout, re.M):
            for part in ranges.split(","):
                first, _, last = part.partition("-")
                told += range(int(first), int(last or first) + 1)
        self.assertEqual(sorted(told), list(range(TASKS)))
        self.assertIn("9: I am nine\n", result.stdout)
        self.assertLess(len(result.stdout.splitlines()), TASKS)

    def test_a_reader_that_sleeps_stops_the_writers(self):
        job = self.start("sh", "-c", "echo up >&2; exec yes $MP_CHILD", "-procs", TASKS, "-hostfile",
                         self.host_file(range(16), 4), env={"MP_LAUNCH_FANOUT": 3})
        for _ in range(TASKS):
            job.stderr.readline()

        def at_rest():
            """All writers wait in their pipes."""
            writers = [pid for host in range(16) for pid, command in host_processes(host).items() if command.startswith("yes")]
            return len(writers) == TASKS and all(self.waits_in_pipe(pid) for pid in writers)
        wait_for(at_rest, "the writers to wait", 120)
        sizes = {}
        for host in range(16):
            for pid, command in host_processes(host).items():
                if "pmd --channel" in command or command.split()[0].endswith("/poe"):
                    with open(f"/proc/{pid}/status") as status:
                        sizes[command.split()[0], pid] = int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])
        self.signal(job, signal.SIGTERM)  # control gets through
        self.signal(job, signal.SIGTERM)
        for host in range(1, 16):
            wait_for(lambda host=host: not host_processes(host), f"host {host} to be empty", 60)
        job.stdout.close()
        job.stderr.close()
        job.wait(60)
        if not SANITIZED:  # which takes as much again for itself
            self.assertLess(max(sizes.values()), 64 << 10, sizes)
            self.assertLess(max(size for (name, _), size in sizes.items() if "pmd" in name), 24 << 10, sizes)

    @staticmethod
    def waits_in_pipe(pid):
        try:
            with open(f"/proc/{pid}/wchan") as file:
                return "pipe" in file.read()
        except OSError:
            return False


class Ending(ClusterTest):
    def poekill(self, host, *words):
        return subprocess.run(command_on(host, BUILD / "bin" / "poekill", *words), capture_output=True, text=True, timeout=60)

    def test_from_home_and_from_another_host(self):
        for host in (0, 3):
            with self.subTest(host=host):
                job = self.start("sh", "-c", "echo up; exec sleep 300", "-procs", 4, "-hostfile", self.host_file(range(4)))
                for _ in range(4):
                    self.assertEqual(job.stdout.readline(), "up\n")
                result = self.ok(self.poekill(host, "all"))
                self.assertIn("has been ended", result.stdout)
                job.communicate(timeout=60)
                self.assertEqual(job.returncode, 143)

    def test_no_job(self):
        self.assertIn("no running job is called", self.ok(self.poekill(5, "no-such-job"), 2).stderr)
        self.ok(self.poekill(5), 2)
        self.ok(self.poekill(5, "all"))


if __name__ == "__main__":
    assert HOSTS in (0, 16)
    unittest.TestCase.maxDiff = 4000
    main(16)
