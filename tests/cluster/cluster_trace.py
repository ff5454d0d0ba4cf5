"""Traces of jobs on 16 hosts whose clocks are apart: all streams come together, by the channel or by a
directory that all see, and the clocks are measured within their round trips."""

import collections
import os
import signal
import subprocess

from hosts import BUILD, HERE, ClusterTest, job_files, main, testbed, wait_for
from trace_file import Trace

SOURCE = HERE.parent.parent
CLOCKS_APART = os.path.exists("/proc/self/ns/time")
SECOND = 1000000000


class Traces(ClusterTest):
    def setUp(self):
        super().setUp()
        self.program = self.path("trace_tasks")
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(SOURCE / "tests/multiproc/trace_tasks.c"), "-o", self.program],
                       check=True)

    def traced(self, *flags, hosts=16, tasks_each=2, status=0, env=None):
        result = self.ok(self.poe(self.program, "-procs", hosts * tasks_each, "-hostfile",
                                  self.host_file(range(hosts), tasks_each), "-tracelevel", 9, *flags, env=env), status)
        self.assertIn(f"poe: trace in trace_tasks.trc ({hosts * tasks_each} tasks, ", result.stderr)
        self.assertEqual([name for name in os.listdir(self.folder.name) if "parts" in name], [])
        return Trace(self.path("trace_tasks.trc"))

    def test_samples(self):
        """Call stacks of all hosts come together, on the clocks of their hosts."""
        if subprocess.run([str(BUILD / "bin" / "pmd-sample"), "-check"], capture_output=True).returncode != 0:
            self.skipTest("the kernel does not allow perf events")
        program = self.path("sample_tasks")
        subprocess.run(["gcc", "-O2", str(SOURCE / "tests/multiproc/sample_tasks.c"), "-o", program, "-lpthread"], check=True)
        for flags in ((), ("-tmpdir", "/dev/shm")):  # in the directory that all see; over the channel
            self.check_samples(program, flags)

    def check_samples(self, program, flags):
        self.ok(self.poe(program, "shares", 300, "-procs", 2, "-hostfile", self.host_file(range(2), 1), "-sample", 500,
                         "-tracefile", "run.trc", *flags))
        trace = Trace(self.path("run.trc"))
        self.assertEqual(sorted(trace.samples), [0, 1])
        for node, stream in trace.samples.items():
            samples = [record for record in stream.records if record.kind == "sample"]
            self.assertGreater(len(samples), 50)
            self.assertEqual({record.a for record in samples}, {node})
            end = max(record.time for record in trace.nodes[node].records)
            self.assertLess(max(record.time for record in samples), end + SECOND)
            self.assertGreater(min(record.time for record in samples), 0)

    def check(self, trace, hosts, tasks_each):
        self.assertEqual(sorted(trace.nodes), list(range(hosts)))
        self.assertEqual(sorted(trace.tasks), list(range(hosts * tasks_each)))
        best = {}  # node -> (round trip, offset)
        for node, stream in trace.nodes.items():
            self.assertEqual(stream.node_name, f"node{node}")
            clocks = [(record.a, record.b - (record.b >> 63 << 64)) for record in stream.records if record.kind == "clock"]
            best[node] = min(clocks)
            if node == 0:
                self.assertEqual(set(clocks), {(0, 0)})
                continue
            # At the beginning and at the end, eight each.
            self.assertGreaterEqual(len(clocks), 16)
            for round_trip, offset in clocks:
                self.assertLess(abs(offset - (node * 1000 * SECOND if CLOCKS_APART else 0)), round_trip / 2 + 1000)
        sent = collections.defaultdict(collections.deque)  # numbers come again after 65535 messages
        for task in trace.tasks:
            for record in trace.of(task, "send"):
                sent[task, record.a, record.detail, record.extra].append(record)

        def at(task, record):
            stream = trace.tasks[task]
            return stream.origin + record.time - best[stream.node][1]

        for task in trace.tasks:
            for record in trace.of(task, "receive"):
                message = sent[record.a, task, record.detail, record.extra].popleft()
                self.assertEqual(message.b, record.b)
                doubt = (best[trace.tasks[task].node][0] + best[trace.tasks[record.a].node][0]) / 2
                self.assertGreater(at(task, record) - at(record.a, message), -doubt)
        self.assertEqual([key for key, left in sent.items() if left], [])

    def test_over_the_channel(self):
        # Each host has a /dev/shm of its own; a tree of three levels.
        trace = self.traced("-tmpdir", "/dev/shm", env={"MP_LAUNCH_FANOUT": 3})
        self.check(trace, 16, 2)

    def test_shared_directory(self):
        trace = self.traced(hosts=4, tasks_each=1)
        self.check(trace, 4, 1)

    def test_large_streams(self):
        """Longer than the windows, and standard output gets through beside them."""
        job = self.start(self.program, "forever", "-procs", 3, "-hostfile", self.host_file(range(3)), "-tracelevel", 9,
                         "-tmpdir", "/dev/shm", "-labelio", "no")
        self.assertEqual(job.stdout.readline(), "going\n")

        def long_enough():
            total = 0
            for host in (1, 2):
                root = os.path.join("/proc", testbed("pid", host).strip(), "root", "dev", "shm")
                for folder in job_files(host):
                    path = os.path.join(root, folder)
                    if not folder.startswith("poe-trace-"):
                        continue
                    total += sum(os.stat(os.path.join(path, name)).st_size for name in os.listdir(path))
            return total > 30 << 20

        wait_for(long_enough, "long streams", 60)
        self.signal(job, signal.SIGUSR1)
        _, errors = job.communicate(timeout=120)
        self.assertEqual(job.returncode, 0, errors)
        trace = Trace(self.path("trace_tasks.trc"))
        self.check(trace, 3, 1)
        self.assertGreater(os.path.getsize(self.path("trace_tasks.trc")), 30 << 20)

    def test_without_a_host(self):
        # The last test here: the host stays dead.
        job = self.start(self.program, "forever", "-procs", 3, "-hostfile", self.host_file(range(3)), "-tracelevel", 9,
                         "-tmpdir", "/dev/shm", "-pulse", 2)
        self.assertEqual(job.stdout.readline(), "going\n")
        self.unreachable.add(2)
        testbed("kill", 2)
        _, errors = job.communicate(timeout=120)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("poe: trace in trace_tasks.trc (2 tasks", errors)
        self.assertIn("nothing is there of 1 task", errors)
        trace = Trace(self.path("trace_tasks.trc"))
        self.assertEqual(sorted(trace.tasks), [0, 1])
        self.assertGreater(len(trace.of(0, "receive")), 100)


if __name__ == "__main__":
    main(16)
