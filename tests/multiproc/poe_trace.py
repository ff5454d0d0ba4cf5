#!/usr/bin/env python3
"""Traces of whole jobs: what is recorded at which level, how the parts become one file, what is left when
somebody is killed, and tracing of a job that runs already."""

import collections
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from launching import BUILD, SOURCE, LaunchTest, clean_environment, main, poe, start, wait_for
from trace_file import HEADER, Trace, records_of, records_so_far

POE = str(BUILD / "bin" / "poe")


class TraceTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, "trace_tasks")
        subprocess.run([str(BUILD / "bin" / "mpcc"), "-g", str(SOURCE / "tests/multiproc/trace_tasks.c"), "-O1", "-o",
                        cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def setUp(self):
        super().setUp()
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def traced(self, *command, level=9, tasks=3, flags=(), status=0, name="trace_tasks.trc"):
        result = poe(self.program, *command, "-procs", str(tasks), "-tracelevel", str(level), *flags, cwd=self.place)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(f"poe: trace in {name} ({tasks} tasks, ".encode(), result.stderr)
        self.assertEqual(os.listdir(self.place), [name])
        return Trace(self.place / name)

    def wait_for_node(self, holds, what):
        """Until the records of the node in the trace of the job that runs are such."""
        wait_for(lambda: holds(records_so_far(self.place, "node-0")), what)

    def assert_messages_match(self, trace):
        """Every message that was received was sent, before, with that number, type and length."""
        sent = {}
        for task in trace.tasks:
            for record in trace.of(task, "send"):
                sent[task, record.a, record.detail, record.extra] = record
        received = 0
        for task in trace.tasks:
            for record in trace.of(task, "receive"):
                message = sent.pop((record.a, task, record.detail, record.extra))
                self.assertEqual(message.b, record.b)
                # One node, one clock, one origin.
                self.assertLess(message.time, record.time)
                received += 1
        self.assertEqual(sent, {})
        return received


class PlainPrograms(TraceTest):
    def test_lanes(self):
        """Of a program without MPL the trace has processor time, memory and switches, and vt shows them over time."""
        script = "import os, time\nwhile not os.path.exists('go'): sum(range(200000)); time.sleep(0.01)"
        job = start("/usr/bin/python3", "-c", script, "-procs", "1", "-tracelevel", "9", "-tracefile", "plain.trc", "-samplefreq", "20",
                    cwd=self.place)

        def sampled(records):
            """Processor time, switches and memory of the node, and memory of the task; sums at two times at least."""
            found = collections.Counter((record.a, record.detail) for record in records if record.kind == "system")
            return found[0xffffffff, 1] > 1 and found[0xffffffff, 3] > 1 and found[0xffffffff, 7] > 0 and found[0, 7] > 0
        self.wait_for_node(sampled, "samples")
        (self.place / "go").touch()
        _, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, errors)
        view = subprocess.run([str(BUILD / "bin" / "vt"), "-view", "system", "-size", "100x60", "plain.trc"], cwd=self.place,
                              capture_output=True, check=True).stdout.decode()
        for lane in ("cpu user of all", "memory of all", "switches of all", "memory of task 0"):
            self.assertIn(lane, view)


class Levels(TraceTest):
    def test_messages(self):
        trace = self.traced(level=1)
        self.assertEqual(trace.job["level"], 1)
        self.assertEqual([task["node"] for task in trace.job["tasks"]], [0, 0, 0])
        self.assertGreaterEqual(self.assert_messages_match(trace), 31)
        for task in trace.tasks:
            regions = trace.names(task, 1)
            entered = collections.Counter(regions[record.a] for record in trace.of(task, "enter"))
            left = collections.Counter(regions[record.a] for record in trace.of(task, "leave"))
            self.assertEqual(entered, left)
            self.assertEqual(entered["mpc_bsendrecv"], 10)
            self.assertNotIn("mpc_combine", entered)
            for kind in ("collective", "marker", "counter"):
                self.assertEqual(trace.of(task, kind), [])
            self.assertEqual({record.extra for record in trace.of(task, "enter")}, {0})
        large = [record for record in trace.of(1, "receive") if record.b & 0xffffffff == 3000000]
        self.assertEqual([(record.a, record.b >> 32) for record in large], [(0, 9)])
        self.assertEqual(trace.nodes[0].records[-1].kind, "clock")

    def test_collectives_and_sites(self):
        trace = self.traced(level=2)
        self.assert_messages_match(trace)
        for task in trace.tasks:
            calls = trace.of(task, "collective")
            self.assertEqual([(record.extra, record.b) for record in calls], [(0, 4), (1, 0)])
            sites = trace.names(task, 3)
            used = {record.extra for record in trace.of(task, "enter")}
            self.assertTrue(used <= set(sites), (used, sites))
            self.assertEqual({sites[site] for site in used}, {self.program})
        # The first call is the one in round_trip.
        first = next(record for record in trace.of(0, "enter"))
        where = next(record.b for record in trace.of(0, "define") if record.detail == 3 and record.a == first.extra)
        line = subprocess.run(["addr2line", "-f", "-e", self.program, hex(where)], capture_output=True, text=True).stdout
        self.assertEqual(line.split("\n")[0], "round_trip")

    def test_system(self):
        job = start(self.program, "forever", "-procs", "3", "-tracelevel", "3", "-samplefreq", "5", cwd=self.place)

        def sampled(records):
            """Processor time and faults of each task, and processor time of the node."""
            metrics = {(record.a, record.detail) for record in records if record.kind == "system"}
            return {(task, metric) for task in (0, 1, 2) for metric in (1, 5)} | {(0xffffffff, 1)} <= metrics
        self.wait_for_node(sampled, "samples")
        job.send_signal(signal.SIGUSR1)
        _, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, errors)
        trace = Trace(self.place / "trace_tasks.trc")
        self.assertTrue(sampled(trace.nodes[0].records))
        ends = {record.a: (record.detail, record.extra) for record in trace.nodes[0].records if record.kind == "ended"}
        self.assertEqual(ends, {0: (0, 0), 1: (0, 0), 2: (0, 0)})

    def test_everything(self):
        trace = self.traced(level=9)
        for task in trace.tasks:
            marker, = trace.of(task, "marker")
            self.assertEqual((marker.detail, marker.extra, marker.text), (1, 50, "a text that is longer than one record"))
            self.assertEqual([record.b for record in trace.of(task, "progress")], [3, 10])
            regions = trace.names(task, 1)
            self.assertIn("round", regions.values())
            entered = [record for record in trace.of(task, "enter") if regions[record.a] == "round"]
            self.assertEqual(len(entered), 10)
            self.assertEqual(trace.names(task, 2), {1: "value"})
            self.assertEqual(len(trace.of(task, "counter")), 10)

    def test_nothing(self):
        result = poe(self.program, "-procs", "2", cwd=self.place)
        self.ok(result)
        self.assertEqual(result.stderr, b"")
        self.assertEqual(os.listdir(self.place), [])

    def test_part_of_a_run(self):
        trace = self.traced("part")
        self.assertEqual([record.detail for record in trace.of(0, "tracing")], [1, 0, 1])
        self.assertEqual(trace.of(0, "counter"), [])
        self.assertEqual(len(trace.of(0, "collective")), 2)

    def test_child_process(self):
        trace = self.traced("fork")
        self.assertNotIn("child", trace.names(0, 1).values())
        self.assert_messages_match(trace)

    def test_plain_program(self):
        """The tasks compute until the daemon has seen both of them, however late it does."""
        job = start("sh", "-c", "until [ -e go ]; do :; done; exit 3", "-procs", "2", "-tracelevel", "1",
                    "-samplefreq", "2", cwd=self.place)
        self.wait_for_node(lambda records: {record.a for record in records if record.kind == "doing"} == {0, 1}, "a sample of both tasks")
        (self.place / "go").touch()
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, 3)
        trace = Trace(self.place / "sh.trc")
        self.assertEqual(sorted(trace.tasks), [0, 1])
        self.assertEqual(trace.tasks[0].records, [])
        ends = {record.a: record.extra for record in trace.nodes[0].records if record.kind == "ended"}
        self.assertEqual(ends, {0: 3, 1: 3})


class Sizes(TraceTest):
    def test_ring(self):
        trace = self.traced(flags=("-tbuffwrap", "yes", "-tbuffsize", "100k"))
        self.assertEqual(trace.tasks[0].wraps, 1)
        self.assertEqual(trace.tasks[0].capacity, 100 * 1024 // 24)
        self.assertEqual(trace.of(0, "lost"), [])

    def test_cap(self):
        job = start(self.program, "forever", "-procs", "2", "-tracelevel", "9", "-ttempsize", "100k", "-labelio", "no",
                    cwd=self.place)
        self.assertEqual(job.stdout.readline(), b"going\n")
        job.send_signal(signal.SIGUSR1)
        _, errors = job.communicate(timeout=60)
        trace = Trace(self.place / "trace_tasks.trc")
        for task in trace.tasks:
            for record in trace.of(task, "lost"):
                self.assertGreater(record.b, 0)
        if any(trace.of(task, "lost") for task in trace.tasks):
            self.assertRegex(errors, rb"(?m)^     [0-9,]+ records are missing: there was no room")

    def test_names(self):
        os.mkdir(self.place / "traces")
        result = poe(self.program, "-procs", "1", "-tracelevel", "1", "-tracedir", "traces", "-tracefile", "run.trc", cwd=self.place)
        self.ok(result)
        self.assertEqual(os.listdir(self.place / "traces"), ["run.trc"])
        with tempfile.TemporaryDirectory() as temporary:
            result = poe(self.program, "-procs", "1", "-tracelevel", "1", "-tmpdir", temporary, cwd=self.place)
            self.ok(result)
            self.assertEqual(os.listdir(temporary), [])

    def test_no_place(self):
        result = poe(self.program, "-procs", "2", "-tracelevel", "1", "-tracedir", "/no/such/place", cwd=self.place)
        self.ok(result)
        self.assertIn(b"the job will not be traced: cannot make the directory /no/such/place", result.stderr)


class Ends(TraceTest):
    def test_killed_task(self):
        trace = self.traced("kill", status=128 + signal.SIGKILL)
        ends = {record.a: (record.detail, record.extra) for record in trace.nodes[0].records if record.kind == "ended"}
        self.assertEqual(ends[2], (1, signal.SIGKILL))
        self.assertEqual(len(trace.of(2, "collective")), 2)

    def test_a_device_is_not_replaced(self):
        device = os.path.join(self.place, "pipe")
        os.mkfifo(device)
        result = poe("true", "-tracelevel", "1", "-tracefile", "pipe", cwd=self.place)
        self.ok(result, 1)
        self.assertIn(b"it exists and is no regular file", result.stderr)
        self.assertTrue(pathlib.Path(device).is_fifo())

    def test_failed_start(self):
        result = poe("/no/such/program", "-procs", "2", "-tracelevel", "1", cwd=self.place)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(os.listdir(self.place), [])
        self.assertNotIn(b"trace in", result.stderr)

    def test_killed_poe(self):
        job = start(self.program, "forever", "-procs", "2", "-tracelevel", "9", cwd=self.place)
        self.assertEqual(job.stdout.readline(), b"going\n")
        job.kill()
        job.communicate(timeout=60)
        parts, = os.listdir(self.place)
        name = re.fullmatch(r"trace_tasks\.trc\.(.*)\.parts", parts)[1]
        wait_for(lambda: not os.path.exists(f"/dev/shm/poe-{os.getuid()}-{name}"), "the job's end")
        streams = os.listdir(self.place / parts)
        self.assertEqual(sorted(streams), ["job.stream", "node-0.stream", "task-0.stream", "task-1.stream"])
        # What is there can be made a trace by anybody who knows the format.
        with open(self.place / "by_hand.trc", "wb") as out:
            for name in sorted(streams):
                with open(self.place / parts / name, "rb") as part:
                    data = part.read()
                length = max(24, len(data) - 4096) if name != "job.stream" else len(data) - 4096
                # `length`, behind seven words of the header.
                data = data[:56] + length.to_bytes(8, "little") + data[64:]
                out.write(data + bytes(-len(data) % 4096))
        trace = Trace(self.place / "by_hand.trc")
        self.assertGreater(len(trace.of(0, "receive")), 90)
        # Or by vt, which then removes the parts.
        vt = lambda *args: subprocess.run([str(BUILD / "bin" / "vt"), *args], cwd=self.place, capture_output=True, text=True)
        merged = vt("-merge", parts)
        self.assertEqual((merged.returncode, merged.stderr), (0, ""))
        self.assertRegex(merged.stdout, r"^trace_tasks\.trc: 2 tasks, \d+ records\n$")
        self.assertEqual(sorted(os.listdir(self.place)), ["by_hand.trc", "trace_tasks.trc"])
        self.assertEqual(len(Trace(self.place / "trace_tasks.trc").of(0, "receive")), len(trace.of(0, "receive")))
        again = vt("-merge", parts)
        self.assertEqual(again.returncode, 2)
        self.assertIn(parts, again.stderr)


class Attached(TraceTest):
    def trace(self, *words, status=0):
        result = subprocess.run([POE, "-trace", *words], capture_output=True, text=True, timeout=60, cwd=self.place,
                                env=clean_environment())
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout + result.stderr

    def has_round(self, stream):
        """Whether a round with its message is recorded. The size of the file tells nothing: its pages are
        reserved before there are records."""
        if not stream.exists():
            return False
        with open(stream, "rb") as file:
            file.seek(HEADER)
            records = records_of(file.read(24 * 1000))
        return any(record.text == "round" for record in records) and any(record.kind == "receive" for record in records)

    def test_attach_and_stop(self):
        job = start(self.program, "forever", "-procs", "3", cwd=self.place)
        try:
            self.assertEqual(job.stdout.readline(), b"going\n")
            for round_number in range(2):
                text = self.trace("attach", str(job.pid), "-tracelevel", "9", "-tracefile", f"{round_number}.trc")
                self.assertIn("is being traced at level 9", text)
                self.assertIn("traced already", self.trace("attach", str(job.pid), status=1))
                parts = self.place / [name for name in os.listdir(self.place) if name.endswith(".parts")][0]
                streams = [parts / f"task-{task}.stream" for task in range(3)]
                wait_for(lambda: all(self.has_round(each) for each in streams), "a whole round in each stream")
                text = self.trace("stop", str(job.pid))
                self.assertIn(f"trace in {round_number}.trc (3 tasks", text)
                trace = Trace(self.place / f"{round_number}.trc")
                self.assertEqual(trace.job["level"], 9)
                for task in range(3):
                    self.assertGreater(len(trace.of(task, "receive")), 0)
                    self.assertIn("round", trace.names(task, 1).values())
                self.assertIn("not being traced", self.trace("stop", str(job.pid), status=1))
            self.trace("attach", str(job.pid), "-tracefile", "last.trc")
            job.send_signal(signal.SIGUSR1)
            _, errors = job.communicate(timeout=60)
            self.assertIn(b"trace in last.trc (3 tasks", errors)
            self.assertEqual(sorted(os.listdir(self.place)), ["0.trc", "1.trc", "last.trc"])
        finally:
            job.kill()
            job.communicate(timeout=60)

    def test_mistakes(self):
        self.assertIn("expected attach JOB", self.trace(status=1))
        self.assertIn("expected attach JOB", self.trace("begin", "x", status=1))
        self.assertIn("poe -trace: ", self.trace("stop", "no-such-job", status=1))


if __name__ == "__main__":
    main()
