#!/usr/bin/env python3
"""What tasks do is visible: deadlocks that poe tells of, and those it must not; poestat; the death of
tasks that others wait for."""

import contextlib
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

from launching import BUILD, SANITIZED, SOURCE, LaunchTest, clean_environment, main, poe, start, wait_for

POESTAT = str(BUILD / "bin" / "poestat")
SHM = pathlib.Path("/dev/shm")


def numbers_of(words):
    """Of a list as "0-2,5"."""
    parts = [part.partition("-") for part in words.split(",")]
    return {number for first, _, last in parts for number in range(int(first), int(last or first) + 1)}


def poestat(*args, **options):
    return subprocess.run([POESTAT, *map(str, args)], capture_output=True, text=True, timeout=60, env=clean_environment(),
                          stdin=subprocess.DEVNULL, **options)


class WatchTest(LaunchTest):
    compiler, source = "mpcc", "watch_tasks"

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, cls.source)
        subprocess.run([str(BUILD / "bin" / cls.compiler), str(SOURCE / "tests/multiproc" / f"{cls.source}.c"), "-O1", "-g",
                        "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def place_of(self, text):
        """The file and line of the program that has this text."""
        lines = (SOURCE / "tests/multiproc" / f"{self.source}.c").read_text().splitlines()
        return f"{self.source}.c:{next(number for number, line in enumerate(lines, 1) if text in line)}"

    def environment(self, **variables):
        return clean_environment(**{"MP_DEADLOCK_TIMEOUT": 1, **variables})

    @contextlib.contextmanager
    def running(self, how, tasks, *flags, ready=None, stdin=subprocess.DEVNULL, **variables):
        """A job whose tasks have all said "ready"; ended at the end. job.errors is what it has said."""
        errors = pathlib.Path(self.directory.name, f"errors-{time.monotonic_ns()}")
        with open(errors, "wb") as file:
            job = start(self.program, how, self.marker, "-procs", str(tasks), *flags, stderr=file, stdin=stdin,
                        env=self.environment(**variables))
        job.errors = errors.read_text
        try:
            for _ in range(tasks if ready is None else ready):
                self.assertEqual(job.stdout.readline(), b"ready\n", errors.read_text())
            yield job
        finally:
            if job.poll() is None:
                job.terminate()
            job.communicate(timeout=60)

    def tasks_of(self, job):
        """By poestat: task -> its JSON."""
        result = poestat("-json", job.pid)
        if result.returncode != 0:
            return {}
        return {task["task"]: task for task in json.loads(result.stdout)["task_states"]}

    def waiting(self, job, tasks, calls=()):
        """Waits until these tasks are in waits that last. `calls` are pairs of a task and the call in which it must wait. Name the
        call where the task waits in an earlier call, too, if the computer is busy."""
        def all_wait():
            seen = self.tasks_of(job)
            last = all(seen.get(task, {}).get("unexpected") is not None for task in tasks)
            return seen if last and all(seen[task]["call"] == call for task, call in calls) else None
        return wait_for(all_wait, f"tasks {tasks} to wait {calls}")

    def told(self, how, tasks, *expected, **variables):
        """Returns the last report of the deadlock, which must contain the texts `expected` in this order. On a busy computer,
        some tasks may reach the deadlock late. Then poe first reports the deadlock of the other tasks."""
        with self.running(how, tasks, **variables) as job:
            last_report = lambda: job.errors().rpartition("0031-258")[2]
            in_order = re.compile(".*".join(map(re.escape, expected)), re.DOTALL)
            try:
                wait_for(lambda: in_order.search(last_report()), f"the report of {how}")
            except AssertionError:
                self.fail(f"{expected} is not in the last report of {how}:\n{job.errors()}")
            job.terminate()
            job.communicate(timeout=60)
            text, last = job.errors(), last_report()
        self.assertRegex(last, in_order)
        stuck = [numbers_of(words) for words in re.findall(r"deadlock: tasks? ([\d,-]+) ", text)]
        self.assertTrue(stuck, text)
        self.assertEqual(len(stuck), text.count("0031-258"), text)
        for before, after in zip(stuck, stuck[1:]):
            self.assertLess(before, after, text)
        return last


class Deadlocks(WatchTest):
    def test_everybody_sends_first(self):
        self.told("sends", 2, "deadlock: tasks 0,1 wait for each other and can never go on; the job goes on",
                  "task 0 waits in mpc_bsend of 100000000 bytes, type 2, to task 1",
                  "task 1 waits in mpc_bsend of 100000000 bytes, type 2, to task 0")
        self.told("sends", 3, "tasks 0-2", "task 0 waits in mpc_bsend", "to task 1", "to task 2", "to task 0")

    def test_everybody_receives_first(self):
        self.told("receives", 8, "tasks 0-7 wait for each other", *(f"task {t} waits in mpc_brecv for type 3 from task {(t - 1) % 8}, "
                  f"called at {self.place_of('mpc_brecv(')}"
                                                                    for t in (0, 7, 6, 5, 4, 3, 2, 1)))

    def test_wrong_type(self):
        self.told("type", 3, "deadlock: tasks 0-2", "task 0 waits in mpc_brecv for type 9 from task 1",
                  "task 1 waits in mpc_brecv for type 7 from task 0", "task 2 waits in mpc_brecv for type 5 from task 0",
                  "task 0 sent type 8 (16 bytes) to task 1; task 1 waits for type 7 from task 0")

    def test_wrong_source(self):
        self.told("source", 3, "deadlock: tasks 0-2", "task 1 waits in mpc_brecv for type 7 from task 2",
                  "task 0 sent type 7 (4 bytes) to task 1; task 1 waits for type 7 from task 2")

    def test_missing_sync(self):
        self.told("sync", 8, "tasks 0-6 wait in mpc_sync for task 7", "task 7 waits in mpc_brecv for type 7 from task 0")

    def test_flush_against_sync(self):
        self.told("flush", 3, "tasks 0-2 wait for each other", "tasks 0,1 wait in mpc_flush for task 2",
                  "task 2 waits in mpc_sync for tasks 0,1")

    def test_waiting_for_an_ended_task(self):
        self.told("ended", 3, "deadlock: tasks 0,1 can never go on",
                  "tasks 0,1 wait in mpc_brecv for type 7 from task 2, which has ended")

    def test_waiting_for_anybody(self):
        self.told("any", 2, "tasks 0,1 wait in mpc_brecv for a message of any type from any task, and no task is left")

    def test_two_of_many(self):
        self.told("two-of-many", 4, "deadlock: tasks 0,1 wait for each other", "task 1 waits in mpc_brecv for type 1 from task 0")

    def test_every_way_to_wait(self):
        for mode in ("poll", "yield", "sleep"):
            self.told("receives", 2, "tasks 0,1 wait for each other", "from task 0", MP_WAIT_MODE=mode)

    def test_flag_and_off(self):
        for flags, variables in (("-deadlock_timeout", "0"), {}), ((), {"MP_DEADLOCK_TIMEOUT": 0}), ((), {"MP_INFOLEVEL": 0}):
            with self.running("receives", 2, *flags, **variables) as job:
                self.waiting(job, range(2))
                self.assertEqual(poestat("-deadlock", job.pid).returncode, 1)
                time.sleep(2)  # twice the timeout of the other tests
                self.assertNotIn("deadlock", job.errors())


class NoDeadlocks(WatchTest):
    """Waits of more than a timeout that are none."""

    def silent(self, how, tasks, **options):
        result = self.ok(poe(self.program, how, self.marker, "-procs", str(tasks), env=self.environment(), **options))
        self.assertEqual(result.stderr, b"")

    def test_computing(self):
        self.silent("long-computing", 3)

    def test_sleeping(self):
        self.silent("long-sleeping", 3)

    def test_flush(self):
        self.silent("long-flush", 3)

    def test_token(self):
        self.silent("long-token", 4)

    def test_slow_stream(self):
        self.silent("long-stream", 3)

    def test_reading(self):
        with self.running("long-reading", 3, stdin=subprocess.PIPE) as job:
            self.waiting(job, (1, 2))
            wait_for(lambda: self.tasks_of(job)[0]["state"] == "idle", "task 0 to read")
            self.assertEqual(poestat("-deadlock", job.pid).returncode, 0)
            time.sleep(2)
            job.communicate(b"x\n", timeout=60)
            self.assertEqual((job.returncode, job.errors()), (0, ""))

    def test_stopped(self):
        # Stopped at any moment, also between the arrival of a message and its receipt.
        stop = os.path.join(self.directory.name, "stop")
        with self.running("long-ping-pong", 2, WATCH_STOP=stop) as job:
            pids = {task: state["pid"] for task, state in wait_for(lambda: self.tasks_of(job), "the tasks").items()}
            for victim in (0, 1):
                os.kill(pids[victim], signal.SIGSTOP)
                wait_for(lambda: self.tasks_of(job)[victim]["stopped"], "the task to stop")
                self.assertEqual(poestat("-deadlock", job.pid).returncode, 0)
                time.sleep(2)
                os.kill(pids[victim], signal.SIGCONT)
            pathlib.Path(stop).touch()
            job.communicate(timeout=60)
            self.assertEqual((job.returncode, job.errors()), (0, ""))

    def test_other_programs(self):
        self.assertEqual(self.ok(poe("sleep", "2.5", "-procs", "3", env=self.environment())).stderr, b"")


class Poestat(WatchTest):
    def test_list(self):
        with self.running("zero-receive", 3) as job:
            result = self.ok(poestat())
            heading, *lines = result.stdout.splitlines()
            self.assertEqual(heading.split(), ["JOB", "POE", "TASKS", "NODES", "ELAPSED", "PROGRAM", "DIRECTORY"])
            line = next(line for line in lines if str(job.pid) in line.split())
            self.assertRegex(line, rf"^[0-9a-z]+-[0-9a-z]+-0 +{job.pid} +3 +1 +\d+\.\d s +{self.program} +{os.getcwd()}$")
            entry = next(entry for entry in json.loads(poestat("-json").stdout) if entry["poe"] == job.pid)
            self.assertEqual((entry["tasks"], entry["nodes"], entry["programs"]), (3, 1, [self.program]))
            self.assertEqual(entry["job"], line.split()[0])
            by_id, by_pid = poestat(entry["job"], "-json"), poestat(job.pid, "-json")
            self.assertEqual(json.loads(by_id.stdout)["job"], json.loads(by_pid.stdout)["job"])
            self.ok(poestat(entry["job"][:-1]))
        gone = poestat(entry["job"])
        self.assertEqual((gone.returncode, gone.stdout), (2, ""))
        self.assertIn("0031-215", gone.stderr)

    def state(self, how, tasks, task, *flags, ready=""):
        with self.running(how, tasks, *flags) as job:
            self.waiting(job, [task])
            wait_for(lambda: ready in self.ok(poestat(job.pid)).stdout, "the state to be complete")
            result = self.ok(poestat(job.pid))
            lines = result.stdout.splitlines()
            self.assertEqual(lines[2].split(), ["TASK", "NODE", "PID", "CPU", "MEMORY", "STATE"])
            self.assertEqual(len(lines), 3 + tasks)
            self.assertTrue(all(len(line.split(", 1 unexpected")[0]) <= 80 for line in lines[2:]), result.stdout)
            self.assertRegex(lines[3], rf"^ *0  \S+ +\d+ +\d+\.\d\d s +[\d.]+ .?B  (computing|idle)$|^ *0  \S+ +-? +\S+ .*")
            return lines[3 + task][lines[2].index("STATE"):]

    def test_states(self):
        self.assertRegex(self.state("zero-send", 2, 1), r"^mpc_bsend to 0 type 1, 95 MB(, [\d.]+ s)?$")
        self.assertRegex(self.state("zero-receive", 2, 1), r"^mpc_brecv from 0 type 1, 95 MB(, [\d.]+ s)?$")
        self.assertRegex(self.state("zero-any", 2, 1), r"^mpc_brecv from any, 95 MB(, [\d.]+ s)?$")
        self.assertRegex(self.state("zero-sync", 2, 1), r"^mpc_sync by cache-line, waits for 0(, [\d.]+ s)?$")
        # The message that nobody asks for may arrive after the wait has begun.
        self.assertRegex(self.state("type", 2, 1, ready="unexpected"), r", 1 unexpected$")

    def test_ended_and_computing(self):
        with self.running("ended", 3) as job:
            seen = wait_for(lambda: (lambda s: s if s.get(2, {}).get("state") == "ended" else None)(self.tasks_of(job)), "task 2 to end")
            self.assertEqual(seen[2]["text"], "ended")
            self.assertNotIn("pid", seen[2])
        with self.running("zero-receive", 2) as job:
            seen = self.waiting(job, [1])
            computes = wait_for(lambda: (lambda s: s if (s["state"], s["text"]) == ("computing", "computing") else None)(self.tasks_of(job)[0]),
                                "task 0 to be seen computing")
            self.assertGreater(computes["memory_bytes"], 0)
            wait_for(lambda: self.tasks_of(job)[0]["cpu_seconds"] > 0, "task 0 to use its processor")
            self.assertEqual((seen[1]["call"], seen[1]["peer"], seen[1]["type"], seen[1]["waits_for"]), ("mpc_brecv", 0, 1, 0))
            os.kill(seen[1]["pid"], signal.SIGSTOP)
            wait_for(lambda: self.tasks_of(job)[1]["text"].startswith("stopped, mpc_brecv"), "the task to stop")

    def test_other_programs(self):
        job = start("sh", "-c", f"[ $MP_CHILD = 1 ] && exit 3; echo ready; read x; : {self.marker}", "-procs", "2",
                    stdin=subprocess.PIPE)
        self.assertEqual(job.stdout.readline(), b"ready\n")
        wait_for(lambda: self.tasks_of(job).get(1, {}).get("state") == "ended", "task 1 to end")
        out = poestat(job.pid).stdout
        self.assertRegex(out, r"(?m)^ +0 .* idle, no message-passing call yet$")
        self.assertRegex(out, r"(?m)^ +1 .* ended with code 3$")
        self.assertEqual(poestat("-deadlock", job.pid).returncode, 0)
        job.communicate(b"\n", timeout=60)

    def test_deadlock(self):
        with self.running("type", 2) as job:
            self.waiting(job, [0, 1])
            result = poestat("-deadlock", job.pid)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertRegex(result.stdout, r"(?m)^job \S+: deadlock: tasks 0,1 wait for each other and can never go on$")
            self.assertIn("task 0 sent type 8 (16 bytes) to task 1; task 1 waits for type 7 from task 0", result.stdout)
            self.assertEqual(poestat("-deadlock").returncode, 1)
            found = next(one for one in json.loads(poestat("-deadlock", "-json").stdout)
                         if one["deadlock"] and one["poe"] == job.pid)
            self.assertEqual((found["stuck"], found["cycles"]), ([0, 1], [[0, 1]]))
        with self.running("zero-receive", 3) as job:
            result = self.ok(poestat("-deadlock", job.pid))
            self.assertRegex(result.stdout, r"^job \S+: no deadlock\n$")

    def test_again_and_again(self):
        with self.running("zero-receive", 2) as job:
            again = subprocess.Popen([POESTAT, "-w", "1", str(job.pid)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for _ in range(2):
                self.assertRegex(again.stdout.readline(), r"^job \S+: ")
                for _ in range(5):
                    again.stdout.readline()
        again.communicate(timeout=60)
        self.assertEqual(again.returncode, 0)

    def test_wrong_arguments(self):
        for words, expected in ((["-deadlok"], "did you mean -deadlock?"), (["-x"], "poestat -h"), (["a", "b"], "one job at a time"),
                                ([""], "there is no job"), (["-w", "0"], "bad interval"), (["-w", "99999999999"], "bad interval"),
                                (["no-such-job"], "no running job"), (["-deadlock", "no-such-job"], "no running job")):
            result = poestat(*words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn("0031-215", result.stderr)
            self.assertIn(expected, result.stderr)
        self.assertIn("Usage: poestat", self.ok(poestat("-h")).stdout)
        self.assertRegex(self.ok(poestat("--version")).stdout, r"^poestat \d")
        with open("/dev/full", "w") as full:
            self.assertEqual(subprocess.run([POESTAT, "-h"], stdout=full, stderr=subprocess.DEVNULL).returncode, 2)

    def made_and_locked(self, path):
        """Its descriptor. Until it is locked, any job that begins may take it for one that is left over, and remove it."""
        while True:
            path.mkdir(mode=0o700)
            with contextlib.suppress(FileNotFoundError):
                descriptor = os.open(path, os.O_RDONLY)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if path.exists():
                    return descriptor
                os.close(descriptor)

    @contextlib.contextmanager
    def job_directory(self, name, segment, locked=True):
        """A directory as of a job, with what `segment` makes in it."""
        path = SHM / name
        descriptor = self.made_and_locked(path)
        try:
            segment(path / "segment")
            if not locked:
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            yield path
            os.close(descriptor)
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def test_garbage(self):
        name = f"poe-{os.getuid()}-garbage-{os.getpid()}-0"
        rubbish = {"noise": lambda p: p.write_bytes(random.Random(1).randbytes(20000)), "empty": lambda p: p.write_bytes(b""),
                   "folder": lambda p: p.mkdir(), "fifo": lambda p: os.mkfifo(p), "link": lambda p: p.symlink_to("/etc/passwd"),
                   "zeros": lambda p: p.write_bytes(bytes(1 << 20))}
        for kind, make in rubbish.items():
            with self.job_directory(name, make) as path:
                for words in ((), ("-json",), ("-deadlock",), ("-a",)):
                    result = poestat(*words)
                    self.assertIn(result.returncode, (0, 1), (kind, result))
                    self.assertNotIn("garbage", result.stdout)
                    self.assertIn(str(path), result.stderr, kind)
                    self.assertRegex(result.stderr, r"^(ATTENTION: 0031-378  cannot attach [^\n]*\n)+$")
        # Nobody's, not there yet, of another name: passed over.
        with self.job_directory(name, rubbish["noise"], locked=False), self.job_directory(name + "x", lambda p: None), \
                self.job_directory(f"poe-{os.getuid() + 1}-garbage-{os.getpid()}-1", rubbish["noise"]), \
                self.job_directory(f"poe-garbage-{os.getpid()}", rubbish["noise"]), \
                self.job_directory(f"poe-99999999999999999999-garbage-{os.getpid()}", rubbish["noise"]):
            result = self.ok(poestat())
            self.assertNotIn("garbage", result.stdout + result.stderr)

    def test_truncated_and_damaged_segments(self):
        with self.running("zero-receive", 2) as job:
            real = next(path for path in SHM.glob(f"poe-{os.getuid()}-*/segment") if self.is_of(path, job))
            content = real.read_bytes()[:100000]
            shown = poestat(job.pid).stdout
        self.assertIn("mpc_brecv", shown)
        generator = random.Random(2)
        name = f"poe-{os.getuid()}-garbage-{os.getpid()}-2"
        for _ in range(60):
            damaged = bytearray(content)
            for _ in range(generator.choice((1, 4, 400))):
                damaged[generator.randrange(generator.choice((200, len(damaged))))] = generator.randrange(256)
            with self.job_directory(name, lambda p: p.write_bytes(bytes(damaged[:generator.choice((100, 5000, len(damaged)))]))):
                for words in ((), ("-deadlock",), ("-json",)):
                    self.assertIn(poestat(*words).returncode, (0, 1))

    def is_of(self, segment, job):
        entry = json.loads(poestat("-json", job.pid).stdout)
        return segment.parent.name.endswith(entry["job"])

    def slot_of(self, segment, job, task):
        """Where the slot of an attached task begins: a line with its pid at byte 16."""
        [entry] = [each for each in json.loads(poestat("-json", job.pid).stdout)["task_states"] if each["task"] == task]
        content = segment.read_bytes()[:100000]
        wanted = entry["pid"].to_bytes(4, "little")
        return next(at for at in range(4096, len(content), 64) if content[at + 16:at + 20] == wanted)

    def test_damaged_slots(self):
        """A task that scribbles over its slots: poestat shows something, and ends well."""
        generator = random.Random(3)
        with self.running("zero-receive", 2) as job:
            self.waiting(job, [1])
            real = next(path for path in SHM.glob(f"poe-{os.getuid()}-*/segment") if self.is_of(path, job))
            first = self.slot_of(real, job, 1)
            with open(real, "r+b") as file:
                for _ in range(40):
                    file.seek(first + generator.randrange(0, 320))
                    file.write(generator.randbytes(8))
                    file.flush()
                    for words in (("-deadlock", job.pid), ("-json", job.pid), (job.pid,)):
                        self.assertIn(poestat(*words).returncode, (0, 1))

    def test_other_users(self):
        if os.getuid() != 0:
            self.skipTest("needs root")
        with self.running("zero-receive", 2) as job:
            everybody = self.ok(poestat("-a")).stdout
            self.assertRegex(everybody, rf"(?m)^\S+ +{job.pid} .* root +{self.program} +{os.getcwd()}$")
            shutil.copy(POESTAT, self.directory.name)
            os.chmod(self.directory.name, 0o755)
            other = subprocess.run([os.path.join(self.directory.name, "poestat"), "-a"], user=65534, group=65534, extra_groups=[],
                                   capture_output=True, text=True)
            self.assertEqual((other.returncode, other.stdout, other.stderr), (0, "no jobs are running\n", ""))


class Deaths(WatchTest):
    """A task is killed while the others wait for it: all are ended, and poe says who it was."""

    def kill(self, job, tasks, victims):
        seen = wait_for(lambda: (lambda s: s if len(s) == tasks and all("pid" in t for t in s.values()) else None)(self.tasks_of(job)),
                        "the tasks")
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):  # ended with the others, by pmd
                os.kill(seen[victim]["pid"], signal.SIGKILL)
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, 137)
        return job.errors()

    def test_in_every_wait(self):
        for mode in ("adaptive", "poll", "yield", "sleep"):
            for how in ("zero-send", "zero-buffer", "zero-receive", "zero-any", "zero-sync", "zero-chain"):
                with self.subTest(mode=mode, how=how), \
                        self.running(how, 3, MP_WAIT_MODE=mode, MP_BUFFER_MEM="64k") as job:
                    self.waiting(job, (1, 2))
                    text = self.kill(job, 3, [0])
                    self.assertRegex(text, r"ERROR: 0031-250  task 0 \(node \S+, .*\) killed by SIGKILL")
                    self.assertIn("tasks 1,2 ended by poe", text)

    def test_a_waiting_task(self):
        for victim in (1, 2):
            with self.running("zero-chain", 3) as job:
                self.waiting(job, (1, 2))
                self.assertIn(f"task {victim} (node", self.kill(job, 3, [victim]))

    def test_all_but_one_at_once(self):
        for survivor in (0, 7, 15):
            with self.running("zero-chain", 16) as job:
                text = self.kill(job, 16, [task for task in range(16) if task != survivor])
                self.assertIn("killed by SIGKILL", text)

    def test_in_a_deadlock(self):
        with self.running("receives", 4) as job:
            wait_for(lambda: "0031-258" in job.errors(), "the deadlock")
            self.assertIn("0031-250  task 2 (node", self.kill(job, 4, [2]))

    def test_at_random_moments(self):
        end = time.monotonic() + 15
        for seed in range(40):
            generator = random.Random(seed)
            tasks = generator.choice((2, 4, 8))
            job = start(str(BUILD / "bin" / "mpl_random"), str(seed), "1000000", "10", "-procs", str(tasks), env=self.environment())
            states = wait_for(lambda: (lambda s: s if s and all("pid" in t for t in s.values()) else None)(self.tasks_of(job)), "the tasks")
            time.sleep(generator.random() * 0.2)
            os.kill(states[generator.randrange(tasks)]["pid"], signal.SIGKILL)
            _, errors = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 137, errors)
            self.assertIn(b"killed by SIGKILL", errors)
            self.assertNotIn(b"0031-258", errors)
            if time.monotonic() > end:
                break


if __name__ == "__main__":
    main()
