#!/usr/bin/env python3
"""Call stacks of whole jobs (poe -sample): programs of every kind whose stacks follow from their construction."""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pathlib
import platform
import pty
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import unittest

from launching import BUILD, POE, SANITIZED, SOURCE, LaunchTest, clean_environment, main, poe, start, wait_for
from trace_file import Trace

VT = str(BUILD / "bin" / "vt")
MOST_FACTS = 5  # records at the beginning of a stream that are no samples
# The kernel may forbid perf events, as in a container.
ALLOWED = subprocess.run([str(BUILD / "bin" / "pmd-sample"), "-check"], capture_output=True).returncode == 0


@unittest.skipIf(SANITIZED, "programs with sanitizers spend their time elsewhere")
class Sampled(LaunchTest):
    prepare = None  # called in the process that becomes poe

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = cls.built("sample_tasks", "gcc", "-lpthread")
        cls.regions = cls.built("sample_regions", str(BUILD / "bin" / "mpcc"))

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def built(cls, name, compiler, *more):
        program = os.path.join(cls.directory.name, name)
        subprocess.run([compiler, "-g", "-O2", "-fomit-frame-pointer", str(SOURCE / f"tests/multiproc/{name}.c"), "-o",
                        program, *more], check=True)
        return program

    def setUp(self):
        super().setUp()
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        elsewhere = tempfile.TemporaryDirectory()
        self.addCleanup(elsewhere.cleanup)
        self.elsewhere = elsewhere.name

    def sampled(self, *command, rate=500, tasks=1, flags=(), status=0, waits=True, **environment):
        """Runs the command. If it is sample_tasks and `waits` holds, it begins when the sampler has recorded something, because
        a busy computer may start the sampler late."""
        begin = pathlib.Path(self.elsewhere, "begin")
        begin.unlink(missing_ok=True)
        if waits:
            environment["BEGIN_WHEN"] = str(begin)
        ended = threading.Event()
        watching = threading.Thread(target=self.create_when_sampled, args=(begin, ended))
        watching.start()
        try:
            result = poe(*command, "-procs", str(tasks), "-sample", str(rate), "-tracefile", "run.trc", *flags, cwd=self.place,
                         env=clean_environment(**environment), preexec_fn=self.prepare)
        finally:
            ended.set()
            watching.join()
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(os.listdir(self.place), ["run.trc"])
        return result

    def create_when_sampled(self, file, ended):
        while not ended.wait(0.002):
            for stream in self.place.glob("run.trc.*.parts/samples-0.stream"):
                with contextlib.suppress(FileNotFoundError):  # the job has ended meanwhile
                    if self.records(stream) > MOST_FACTS:
                        return file.touch()

    @staticmethod
    def records(stream):
        with open(stream, "rb") as file:
            return int.from_bytes(file.read(4096)[512:520], "little")

    def vt(self, *arguments):
        return subprocess.run([VT, *arguments, "run.trc"], cwd=self.place, capture_output=True, check=True).stdout.decode()

    def summary(self):
        return json.loads(self.vt("-summary", "-json"))

    def functions(self):
        found = self.summary()
        return found["samples"], {each["name"]: each for each in found["functions"]}

    def on_terminal(self, columns, *arguments):
        """The lines that vt shows on a terminal of this width."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        vt = subprocess.Popen([VT, *arguments, "run.trc"], stdin=subprocess.DEVNULL, stdout=theirs,
                              cwd=self.place, env=clean_environment())
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(vt.wait(), 0)
        return text.decode().splitlines()


@unittest.skipUnless(ALLOWED, "the kernel does not allow perf events")
class SampleTest(Sampled):
    pass


class StackTests:
    """What holds however the stacks are taken."""

    def test_shares(self):
        self.sampled(self.program, "shares", "1000")
        samples, functions = self.functions()
        self.assertGreater(samples["count"], 200)
        self.assertEqual(samples["cut"], 0)
        self.assertAlmostEqual(functions["short_work"]["total"] / samples["count"], 0.3, delta=0.1)
        self.assertAlmostEqual(functions["long_work"]["total"] / samples["count"], 0.7, delta=0.1)
        # Its caller has nothing else to do, and everything is below main.
        self.assertEqual(functions["caller_of_long_work"]["total"], functions["long_work"]["total"])
        self.assertLess(functions["caller_of_long_work"]["self"], 0.05 * samples["count"])
        self.assertGreater(functions["main"]["total"], 0.95 * samples["count"])

    def test_lines(self):
        self.sampled(self.program, "shares", "500")
        lines = [line for line in self.summary()["lines"] if line["state"] == "computing" and not line["slept"]]
        source = (SOURCE / "tests/multiproc/sample_tasks.c").read_text().split("\n")
        place, number = lines[0]["line"].rsplit(":", 1)
        self.assertTrue(place.endswith("sample_tasks.c"), lines[0])
        self.assertIn("sink +=", source[int(number) - 1])

    def test_recursion(self):
        self.sampled(self.program, "recursion", "300", "40")
        samples, functions = self.functions()
        # A function counts once in each stack.
        self.assertLessEqual(functions["descend"]["total"], samples["count"])
        self.assertGreater(functions["descend"]["total"], 0.9 * samples["count"])
        self.assertEqual(samples["cut"], 0)
        flame = self.vt("-view", "flame", "-size", "100x60")
        self.assertGreaterEqual(flame.count("|descend"), 40)

    def test_threads(self):
        self.sampled(self.program, "threads", "200")
        samples, functions = self.functions()
        for name in ("first_thread_work", "second_thread_work", "short_work"):
            self.assertAlmostEqual(functions[name]["total"] / samples["count"], 1 / 3, delta=0.12)

    def test_large_frames(self):
        self.sampled(self.program, "frames", "200")
        samples, functions = self.functions()
        self.assertEqual(samples["cut"], 0)
        self.assertGreater(functions["big_frame"]["total"], 0.9 * samples["count"])

    def test_child_process(self):
        self.sampled("sh", "-c", f"{self.program} child 300; true")
        samples, functions = self.functions()
        self.assertGreater(functions["short_work"]["total"], 0.5 * samples["count"])

    def test_sleep(self):
        self.sampled(self.program, "sleep", "600", rate=100)
        found = self.summary()
        self.assertGreater(found["samples"]["waiting"], 5)
        slept = [line for line in found["lines"] if line["slept"]]
        self.assertIn("main at sample_tasks.c", slept[0]["line"])
        self.assertIn("nanosleep", self.vt("-view", "flame", "-asleep"))

    def test_packaged(self):
        """Packages are built with -O2 and have neither frame pointers nor debug information."""
        self.sampled("/usr/bin/python3", "-c", "sum(len(str(i)) for i in range(2000000))")
        samples = self.summary()["samples"]
        self.assertGreater(samples["count"], 20)
        self.assertLessEqual(samples["cut"], 0.02 * samples["count"])


class Stacks(StackTests, SampleTest):
    def test_own_program(self):
        self.sampled("/bin/sleep", "0.1", tasks=2, flags=("-tracelevel", "3"))
        self.assertEqual(Trace(self.place / "run.trc").job["level"], 3)


class Selections(SampleTest):
    def test_regions_and_states(self):
        self.sampled(self.regions, "300", tasks=2)
        alpha = self.vt("-view", "flame", "-phase", "alpha")
        self.assertIn("alpha_work", alpha)
        self.assertNotIn("beta_work", alpha)
        self.assertIn("beta_work", self.vt("-view", "flame", "-phase", "beta"))
        self.assertNotIn("alpha_work", self.vt("-view", "flame", "-tasks", "1"))
        self.assertNotIn("alpha_work", self.vt("-view", "flame", "-state", "receiving"))
        # Regions follow each other, so there is no alpha_work after the beginning of the second one.
        later = self.vt("-view", "flame", "-from", f"{self.within_beta()}us")
        self.assertNotIn("alpha_work", later)
        self.assertIn("beta_work", later)
        receiving = [line for line in self.summary()["lines"] if line["state"] == "receiving"]
        self.assertIn("mpc_brecv from main at sample_regions.c", receiving[0]["line"])

    def within_beta(self):
        """The time after a quarter of the region beta of task 0, from the beginning of the trace."""
        trace = Trace(self.place / "run.trc")
        regions = trace.names(0, 1)
        begin, end = (next(record.time for record in trace.of(0, kind) if regions[record.a] == "beta") for kind in ("enter", "leave"))
        streams = [*trace.nodes.values(), *trace.tasks.values(), *trace.samples.values()]
        return ((3 * begin + end) // 4 - min(stream.records[0].time for stream in streams)) // 1000

    def test_figure(self):
        self.sampled(self.program, "shares", "300")
        widest = {columns: max(map(len, self.on_terminal(columns, "-view", "flame"))) for columns in (60, 200)}
        self.assertLessEqual(widest[60], 60)
        self.assertGreater(widest[200], 60)
        self.vt("-view", "flame", "-o", "flame.svg")
        figure = (self.place / "flame.svg").read_text()
        self.assertTrue(figure.startswith("<?xml"))

    def test_folded_stacks(self):
        self.sampled(self.program, "shares", "300")
        self.vt("-view", "flame", "-o", "flame.folded")
        stacks = [line.rsplit(" ", 1) for line in (self.place / "flame.folded").read_text().splitlines()]
        samples, functions = self.functions()
        total = {name: sum(int(count) for path, count in stacks if name in path.split(";")) for name in ("main", "long_work")}
        for name, count in total.items():
            self.assertEqual(count, functions[name]["total"], name)
        self.assertTrue(any(path.endswith(";main;shares;caller_of_long_work;long_work") for path, _ in stacks), stacks)
        refused = subprocess.run([VT, "-view", "timeline", "-o", "x.folded", "run.trc"], cwd=self.place, capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("-view flame", refused.stderr)

    def test_archive(self):
        """The samples of an OTF2 archive, read back, are those of the summary, in its stacks by task and phase, too."""
        self.sampled(self.regions, "300", tasks=2)
        self.vt("-export", "otf2", "-o", "archive")
        script = ("import collections, json, otf2, sys\n"
                  "sums = collections.Counter()\n"
                  "with otf2.reader.open('archive/trace.otf2') as trace:\n"
                  "    for location, event in trace.events:\n"
                  "        if isinstance(event, otf2.events.CallingContextSample) and 'processor' in event.interrupt_generator.name:\n"
                  "            count = [n for a, n in (event.attributes or {}).items() if a.name == 'samples']\n"
                  "            sums[location.group.name + ' ' + event.calling_context.region.name] += count[0] if count else 1\n"
                  "print(json.dumps(sums))\n")
        read = subprocess.run(["/usr/bin/python3", "-c", script], cwd=self.place, capture_output=True, text=True, check=True)
        archived = json.loads(read.stdout)
        found = self.summary()
        by_function = {name: sum(n for key, n in archived.items() if key.split(" ", 2)[-1] == name)
                       for name in {key.split(" ", 2)[-1] for key in archived}}
        self.assertEqual(by_function, {each["name"]: each["self"] for each in found["functions"] if each["self"]})
        running = [each for each in found["stacks"] if not each["slept"]]
        self.assertEqual(sum(each["samples"] for each in running), found["samples"]["count"])
        alpha = [each for each in running if each["phase"] == "alpha"]
        self.assertIn("alpha_work", {name for each in alpha for name in each["functions"]})
        self.assertNotIn("beta_work", {name for each in alpha for name in each["functions"]})
        self.assertEqual({each["task"] for each in alpha}, {0})

    def test_without_samples(self):
        result = poe("/bin/true", "-tracelevel", "9", "-tracefile", "run.trc", cwd=self.place)
        self.assertEqual(result.returncode, 0)
        self.assertIn("poe -sample", self.vt("-view", "flame"))
        self.assertNotIn("SAMPLES", self.vt("-summary"))


class Counters(SampleTest):
    def test_page_faults(self):
        self.sampled(self.program, "faults", "300", POE_SAMPLE_COUNTERS="all")
        found = self.summary()
        computing = found["counters"]["all faults"]["computing"]
        # Each turn of the loop touches 1024 new pages; the time of one is a few hundred microseconds at most.
        self.assertGreater(computing["count"], 1000)
        self.assertIn("all switches", found["counters"])
        self.assertGreater(found["counters"]["cpu clock"]["computing"]["count"], 2e8)

    def test_hardware(self):
        self.sampled(self.program, "shares", "200")
        found = self.summary()
        if found["hardware_counters"]:
            self.assertIn("cycles", found["counters"])
        else:
            self.assertIn("no hardware counters", self.vt("-summary"))
            self.assertNotIn("cycles", found["counters"])


def forbid_perf_events():
    """Makes perf_event_open fail in this process and its children, as the filters of containers do."""
    no_new_privileges, set_filter, filter_mode = 38, 22, 2
    steps = [(0x20, 0, 0, 0),                  # load the number of the system call
             (0x15, 0, 1, 298),                # perf_event_open on x86-64?
             (0x06, 0, 0, 0x00050000 | errno.EPERM),
             (0x06, 0, 0, 0x7fff0000)]         # allow
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(no_new_privileges, 1, 0, 0, 0) != 0 or library.prctl(set_filter, filter_mode, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


@unittest.skipUnless(platform.machine() == "x86_64", "the number of the system call is that of x86-64")
class TimerSignals(StackTests, Sampled):
    """Stacks that the tasks copy in the handler of a timer signal, because the kernel allows no perf events."""

    prepare = staticmethod(forbid_perf_events)

    def test_said(self):
        self.sampled(self.program, "shares", "100")
        found = self.summary()
        self.assertTrue(found["samples"]["by_signals"])
        self.assertGreater(found["samples"]["sampler_seconds"], 0)
        self.assertIn("a timer signal took the stacks", self.vt("-summary"))
        self.assertNotIn("hardware counters", self.vt("-summary"))

    def test_nothing_is_interrupted(self):
        """No system call fails with EINTR or transfers less, because the signal comes between system calls only."""
        program = self.built("sample_interrupts", "gcc", "-lpthread")
        result = self.sampled(program, "2000", rate=1000)
        self.assertEqual(result.stdout, b"done\n")
        self.assertGreater(self.functions()[1]["compute"]["total"], 100)

    def test_own_use_of_the_signal(self):
        """A program that uses SIGURG itself gets its own ones only. From then on it is not sampled."""
        script = ("import os, signal, time\n"
                  "hits = []\n"
                  "print(signal.getsignal(signal.SIGURG) == signal.SIG_DFL)\n"
                  "signal.signal(signal.SIGURG, lambda *a: hits.append(1))\n"
                  "os.kill(os.getpid(), signal.SIGURG)\n"
                  "end = time.process_time() + 0.3\n"
                  "while time.process_time() < end: pass\n"
                  "print(len(hits))\n")
        result = self.sampled("/usr/bin/python3", "-c", script, rate=1000)
        self.assertEqual(result.stdout, b"True\n1\n")
        self.assertLess(self.summary()["samples"]["count"], 150)

    def test_wait_for_all_signals(self):
        """A thread that blocks all signals, computes, and waits for any of them, gets the one that was sent to it."""
        script = ("import os, signal, time\n"
                  "everything = signal.valid_signals()\n"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, everything)\n"
                  "end = time.process_time() + 0.1\n"
                  "while time.process_time() < end: pass\n"
                  "print(signal.sigtimedwait(everything, 0.2))\n"
                  "os.kill(os.getpid(), signal.SIGUSR1)\n"
                  "print(signal.sigwait(everything) == signal.SIGUSR1)\n")
        result = self.sampled("/usr/bin/python3", "-c", script, rate=1000)
        self.assertEqual(result.stdout, b"None\nTrue\n")

    def test_programs_of_children(self):
        """A program that a child of a task executes is sampled as the task."""
        script = f"import subprocess; subprocess.run([{self.program!r}, 'shares', '300'], check=True)"
        self.sampled("/usr/bin/python3", "-c", script)
        self.assertGreater(self.functions()[1]["long_work"]["total"], 50)

    def test_many_threads(self):
        """A thread that ends gives its timer back."""
        self.sampled(self.program, "short_threads", "300")
        samples, functions = self.functions()
        self.assertGreater(functions["first_thread_work"]["total"], 0.5 * samples["count"])

    def test_static_program(self):
        program = os.path.join(self.directory.name, "static_forbidden")
        subprocess.run(["gcc", "-O2", "-static", str(SOURCE / "tests/multiproc/sample_tasks.c"), "-o", program, "-lpthread"],
                       check=True)
        result = self.sampled(program, "shares", "100", waits=False)
        self.assertEqual(result.stdout, b"done\n")
        self.assertRegex(result.stderr, rb"the program of task 0 is not sampled: the kernel allows no perf events, and a timer "
                                        rb"signal is not possible in a program that is static")

    def test_killed_task(self):
        self.sampled("sh", "-c", f"{self.program} shares 300; kill -9 $$", status=128 + signal.SIGKILL)
        self.assertGreater(self.functions()[1]["long_work"]["total"], 0)


class Forbidden(Sampled):
    @unittest.skipUnless(platform.machine() == "x86_64", "the number of the system call is that of x86-64")
    def test_old_kernel(self):
        """Where signals could interrupt system calls, the job runs as it would without -sample, and poe says what to do."""
        result = subprocess.run(["setarch", "--uname-2.6", POE, self.program, "shares", "100", "-procs", "1", "-sample", "100",
                                 "-tracefile", "run.trc"], cwd=self.place, capture_output=True, timeout=60,
                                env=clean_environment(), preexec_fn=forbid_perf_events)
        self.assertEqual((result.returncode, result.stdout), (0, b"done\n"))
        self.assertRegex(result.stderr, rb"the tasks are not sampled: \S+ \S+ does not allow perf events")
        self.assertRegex(result.stderr, rb"kernel.perf_event_paranoid")
        self.assertIn("TIME OF ALL TASKS", self.vt("-summary"))


class Unchanged(SampleTest):
    def test_output_and_status(self):
        """The program's signals, timers, output and status are its own."""
        script = ("import signal, time, sys, select\n"
                  "hits = []\n"
                  "signal.signal(signal.SIGPROF, lambda *a: hits.append(1))\n"
                  "signal.setitimer(signal.ITIMER_PROF, 0.05, 0)\n"
                  "end = time.process_time() + 0.3\n"
                  "while time.process_time() < end: pass\n"
                  "print(len(hits), select.select([], [], [], 0.2))\n"
                  "sys.exit(7)\n")
        result = self.sampled("/usr/bin/python3", "-c", script, status=7)
        self.assertEqual(result.stdout, b"1 ([], [], [])\n")

    def test_static_program(self):
        program = os.path.join(self.directory.name, "static")
        subprocess.run(["gcc", "-g", "-O2", "-static", str(SOURCE / "tests/multiproc/sample_tasks.c"), "-o", program,
                        "-lpthread"], check=True)
        self.sampled(program, "shares", "300")
        samples, functions = self.functions()
        self.assertEqual(samples["cut"], 0)
        self.assertGreater(functions["long_work"]["total"], functions["short_work"]["total"])

    def test_killed_task(self):
        self.sampled("sh", "-c", f"{self.program} shares 300; kill -9 $$", status=128 + signal.SIGKILL)
        samples, functions = self.functions()
        self.assertGreater(functions["long_work"]["total"], 0)

    def test_sampler_killed(self):
        """A sampler that dies takes nothing else with it, and what it had recorded remains."""
        job = start(self.program, "until", "over", "-procs", "1", "-sample", "200", "-tracefile", "run.trc", cwd=self.place)
        wait_for(lambda: self.sampler_of(job.pid), "the sampler")
        stream = next(self.place.glob("run.trc.*.parts")) / "samples-0.stream"
        wait_for(lambda: stream.exists() and stream.stat().st_size > 4096 and self.records(stream) > 40, "samples")
        os.kill(self.sampler_of(job.pid), signal.SIGKILL)
        self.assertIn(b"pmd-sample has ended before the tasks; they are not sampled any more", job.stderr.readline())
        (self.place / "over").touch()
        out, _ = job.communicate(timeout=60)
        self.assertEqual((job.returncode, out), (0, b"done\n"))
        self.assertGreater(self.summary()["samples"]["count"], 0)

    def test_processes_that_are_too_short(self):
        """If processes end before a sample is taken, poe reports how many."""
        result = self.sampled("sh", "-c", "sleep 0.1; for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; sleep 0.1", rate=10)
        self.assertRegex(result.stderr, rb"ATTENTION: .* node \S+: [0-9]+ process(es)? ended before a sample was taken; a higher "
                                        rb"rate than -sample 10 shows more")
        self.assertNotIn(b"ended before a sample", self.sampled(self.program, "shares", "300").stderr)

    def test_full_disk(self):
        script = 'mount -t tmpfs -o size=300k tmpfs "$1" && cd "$1" && shift && exec "$@"'
        result = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", self.place, POE, self.program, "shares", "700",
                                 "-procs", "2", "-sample", "10000", "-tracefile", "run.trc"], capture_output=True, timeout=60,
                                env=clean_environment())
        self.assertEqual((result.returncode, result.stdout.count(b"done")), (0, 2), result.stderr)
        self.assertIn(b"sampling has ended: the disk is full", result.stderr)
        self.assertRegex(result.stderr, rb"(?m)^     [0-9,]+ records are missing: there was no room")

    @staticmethod
    def sampler_of(pid):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
                grandparent = int((pathlib.Path("/proc") / str(parent) / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if words[0].endswith(b"pmd-sample") and pid in (parent, grandparent):
                return int(process.name)
        return None


if __name__ == "__main__":
    main()
