"""Standard streams of 16 hosts with 4 tasks each, and ending jobs by hand."""

import glob
import itertools
import os
import re
import shlex
import signal
import subprocess
import unittest

from hosts import (BUILD, DEADLINE, HOSTS, POE, SANITIZED, ClusterTest, clean_environment, command_on, host_processes, main,
                   wait_for)
from launching import meeting

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

        self.wait_until_stuck(TASKS)
        sizes = self.sizes()
        self.terminate_twice(job, "yes")  # control gets through
        for host in range(1, 16):
            wait_for(lambda host=host: not host_processes(host), f"host {host} to be empty", 60)
        job.stdout.close()
        job.stderr.close()
        job.wait(60)
        self.check_sizes(sizes)

    def wait_until_stuck(self, writers):
        """Until that many writers are there, and all wait in their pipes."""
        def stuck():
            found = [pid for host in range(16) for pid, command in host_processes(host).items() if command.startswith("yes")]
            return len(found) == writers and all(self.waits_in_pipe(pid) for pid in found)
        wait_for(stuck, "the writers to wait", 120)

    def sizes(self):
        """The most memory, KB, that each part of the job has had."""
        sizes = {}
        for host in range(16):
            for pid, command in host_processes(host).items():
                if "pmd --channel" in command or command.split()[0].endswith("/poe"):
                    with open(f"/proc/{pid}/status") as status:
                        sizes[command.split()[0], pid] = int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])
        return sizes

    def check_sizes(self, sizes):
        if not SANITIZED:  # which takes as much again for itself
            self.assertLess(max(sizes.values()), 64 << 10, sizes)
            self.assertLess(max(size for (name, _), size in sizes.items() if "pmd" in name), 16 << 10, sizes)

    WRITE_HARD = "yes $MP_CHILD >&2 & exec yes $MP_CHILD"

    def stuck_job(self, hosts, **env):
        """Four tasks on each host write on both streams, and nobody reads."""
        job = self.start("sh", "-c", self.WRITE_HARD, "-procs", 4 * len(hosts), "-hostfile", self.host_file(hosts, 4), env=env)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        self.wait_until_stuck(8 * len(hosts))
        return job

    def test_memory_when_both_streams_are_stuck(self):
        for hosts in ([1], [1, 2, 3]):  # the first of three passes on what the others write
            job = self.stuck_job(hosts, MP_LAUNCH_FANOUT=1)
            sizes = self.sizes()
            self.signal(job, signal.SIGKILL)
            job.wait(60)
            self.check_sizes(sizes)
            self.tearDown()

    def test_interrupts_while_stuck(self):
        """The first ends the tasks; what they had written still waits for its reader, until the second."""
        job = self.stuck_job([1, 2])
        self.signal(job, signal.SIGINT)
        for host in (1, 2):
            wait_for(lambda host=host: not host_processes(host), f"host {host} to be empty", 60)
        self.assertIsNone(job.poll())
        self.signal(job, signal.SIGINT)
        self.assertEqual(job.wait(60), 130)

    def test_poekill_while_stuck(self):
        job = self.stuck_job([0, 1])
        result = subprocess.run(command_on(0, BUILD / "bin" / "poekill", "all"), capture_output=True, text=True, timeout=60)
        self.assertIn("has been ended", self.ok(result).stdout)
        wait_for(lambda: not host_processes(1), "host 1 to be empty", 60)
        errors = job.communicate(timeout=60)[1]
        self.assertEqual(job.returncode, 143, errors[-300:])

    def test_no_space_for_ordered_output(self):
        os.mkdir(self.path("small"))
        folder = shlex.quote(self.path("small"))
        # Writers that stay after SIGTERM go on to the end; the disk belongs to host 0, where poe runs.
        script = f"""mount -t tmpfs -o size=4m tmpfs {folder}
            {POE} sh -c 'trap "" TERM; {meeting()}; yes $MP_CHILD' -procs 4 -stdoutmode ordered -hostfile {self.host_file([1, 2], 2)} &
            wait $!; status=$?; ls {folder} >&2; umount {folder}; exit $status"""
        job = subprocess.Popen(command_on(0, "sh", "-c", script), env=clean_environment(TMPDIR=self.path("small")),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder.name)
        out, err = job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 1, err)
        self.assertRegex(err.decode(), r"^ERROR: 0031-\d+  cannot keep ordered output in a temporary file in \S+/small "
                         r"\(set TMPDIR .*\): No space left on device; the job was ended\n.*ended by poe \(SIGKILL\)\n$")
        # What was kept until then appears, task after task, and no more than that: memory, and the disk.
        tasks = [line for line, _ in itertools.groupby(out.split(b"\n")[:-1])]
        self.assertEqual(tasks, sorted(tasks))
        self.assertLess(len(out), 44 << 20)

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

    def poestat(self, *words):
        result = subprocess.run(command_on(0, BUILD / "bin" / "poestat", *words), capture_output=True, text=True, timeout=60)
        self.assertEqual(result.stderr, "")
        return self.ok(result).stdout

    def test_from_home_where_no_task_runs(self):
        for hosts in ([1, 2], [1]):  # also where there is one node, another one
            with self.subTest(hosts=hosts):
                job = self.start("sh", "-c", "echo up; test $MP_CHILD = 0 -o $MP_CHILD = 2 && exec sleep 300; while :; do :; done",
                                 "-procs", 2 * len(hosts), "-hostfile", self.host_file(hosts, 2))
                for _ in range(2 * len(hosts)):
                    self.assertEqual(job.stdout.readline(), "up\n")
                listed = re.findall(r"^(\S+) +(\d+) +(\d+) +(\d+) +[\d.]+ s +sh +\S+$", self.poestat(), re.M)
                self.assertEqual([(int(tasks), int(nodes)) for _, _, tasks, nodes in listed], [(2 * len(hosts), len(hosts))])
                name, poe = listed[0][:2]
                # The even tasks sleep and the odd ones compute; their processes are not on this node.
                expected = [(str(task), f"node{hosts[task // 2]}", ("idle", "computing")[task % 2])
                            for task in range(2 * len(hosts))]
                for word in (name, poe):
                    wait_for(lambda: re.findall(r"^ *(\d+)  (node\d) .*  (\w+), no message-passing call yet$",
                                                self.poestat(word), re.M) == expected, "the states of the tasks")
                self.assertIn(f"{name}: no deadlock", self.poestat("-deadlock"))
                self.assertIn(f"job {name} has been ended", self.ok(self.poekill(0, name)).stdout)
                job.communicate(timeout=60)
                self.assertEqual(job.returncode, 143)
                self.assertEqual(self.poestat(), "no jobs are running\n")

    def test_no_job(self):
        self.assertIn("no running job is called", self.ok(self.poekill(5, "no-such-job"), 2).stderr)
        self.ok(self.poekill(5), 2)
        self.ok(self.poekill(5, "all"))


if __name__ == "__main__":
    assert HOSTS in (0, 16)
    unittest.TestCase.maxDiff = 4000
    main(16)
