"""Every way in which a part of a job over several hosts can fail: the job ends everywhere, with the right
status, leaves nothing, and says first which task, on which node, and what."""

import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
import unittest

from hosts import BUILD, HOSTS, ClusterTest, command_on, host_processes, main, testbed, wait_for
from launching import SOURCE

SLEEP = "echo up; exec sleep 300"
TREE = {"MP_LAUNCH_FANOUT": 2, "MP_PULSE": 4}  # node0, 1 right below poe; 2, 3 below 0 (home); 4, 5 below 1
RANDOM_RUNS = int(os.environ.get("POE_FAULT_RUNS", 12))


class Failures(ClusterTest):
    def begin(self, hosts=range(8), script=SLEEP, env=TREE, **options):
        """A running job of one task on each host, when all tasks have said so."""
        hosts = list(hosts)
        process = self.start("sh", "-c", script, "-procs", len(hosts), "-hostfile", self.host_file(hosts),
                             env=env, **options)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(self.signal, process, signal.SIGKILL)
        for _ in hosts:
            self.assertEqual(process.stdout.readline(), "up\n", "the job did not start")
        return process

    def finish(self, process, timeout=60):
        out, err = process.communicate(timeout=timeout)
        return process.returncode, err

    def find(self, host, words):
        """The process of a host whose command has these words in it."""
        def look():
            return [pid for pid, command in host_processes(host).items() if words in command]
        return wait_for(look, f"{words} on host {host}")[0]

    def test_task_killed(self):
        job = self.begin()
        os.kill(self.find(5, "sleep 300"), signal.SIGKILL)
        status, text = self.finish(job)
        self.assertEqual(status, 137)
        self.assertIn("task 5 (node node5, sh) killed by SIGKILL", text.splitlines()[0])

    def test_task_exits(self):
        for code in (1, 200):
            with self.subTest(code=code):
                # Task 6 ends when all are up: a code above 127 ends the others, also those that have said nothing yet.
                job = self.begin(script=f"echo up; while [ ! -e go{code} ]; do sleep 0.1; done; "
                                        f"[ $MP_CHILD != 6 ] || exit {code}; exec sleep 300")
                self.write(f"go{code}", "")
                status, text = self.finish(job)
                self.assertEqual(status, code)
                self.assertIn(f"task 6 (node node6, sh) exited with code {code}", text.splitlines()[0])

    def test_daemon_killed(self):
        # A leaf and one with others below it, whose daemons have guards above them; and that of the home node.
        for host, which in ((7, -1), (7, 0), (1, -1), (1, 0), (0, 0)):
            with self.subTest(host=host, which=which):
                job = self.begin()
                daemons = sorted(pid for pid, command in host_processes(host).items() if "pmd --channel" in command)
                os.kill(daemons[which], signal.SIGKILL)
                status, text = self.finish(job)
                self.assertEqual(status, 1)
                self.assertRegex(text.splitlines()[0], f"the daemon pmd on node{host} is gone")
                ClusterTest.tearDown(self)

    def test_daemon_stopped(self):
        # A daemon that does not run any more is lost like one that was killed: nothing of it stays on its host.
        for host in (7, 1):
            with self.subTest(host=host):
                job = self.begin()
                daemons = sorted(pid for pid, command in host_processes(host).items() if "pmd --channel" in command)
                os.kill(daemons[-1], signal.SIGSTOP)
                status, text = self.finish(job)
                self.assertEqual(status, 1)
                self.assertRegex(text.splitlines()[0], f"node{host} has not answered for 4 s")
                wait_for(lambda host=host: not host_processes(host), f"host {host} to be empty")
                ClusterTest.tearDown(self)  # looks for what is left in /dev/shm, too

    def test_poe_killed(self):
        job = self.begin()
        self.signal(job, signal.SIGKILL)
        for host in range(8):
            wait_for(lambda host=host: not host_processes(host), f"host {host} to be empty")

    def test_host_dies(self):
        for host in (7, 1):
            with self.subTest(host=host):
                job = self.begin()
                testbed("kill", host)
                try:
                    status, text = self.finish(job)
                finally:
                    testbed("start", host)
                self.assertEqual(status, 1)
                self.assertRegex(text.splitlines()[0], f"node{host} has not answered for 4 s")
                self.tearDown()

    def test_home_dies(self):
        job = self.begin(range(1, 8))
        testbed("kill", 0)
        try:
            for host in range(1, 8):
                wait_for(lambda host=host: not host_processes(host), f"host {host} to be empty", 60)
        finally:
            testbed("start", 0)

    def test_cable_out_and_in_again(self):
        job = self.begin(script="echo up; while [ ! -e go ]; do sleep 0.2; done; echo on $MP_CHILD",
                         env={**TREE, "MP_PULSE": 60})
        testbed("cut", 1)
        time.sleep(1.5)  # part of what happens, not waiting for something
        testbed("mend", 1)
        self.write("go", "")
        out, err = job.communicate(timeout=60)
        self.assertEqual((job.returncode, err), (0, ""))
        self.assertEqual(sorted(out.split("\n")), [""] + [f"on {task}" for task in range(8)])

    def test_host_frozen(self):
        job = self.begin()
        testbed("freeze", 3)
        try:
            status, text = self.finish(job)
        finally:
            testbed("thaw", 3)
        self.assertEqual(status, 1)
        self.assertIn("node3 has not answered for 4 s", text.splitlines()[0])

    def test_poe_is_stopped_for_long(self):
        job = self.begin()
        self.signal(job, signal.SIGSTOP)
        # The daemon on host 1, which is right below poe, ends its tasks when it has not heard of poe for longer than the pulse.
        wait_for(lambda: not any("sleep 300" in command for command in host_processes(1).values()), "the tasks to be ended")
        self.signal(job, signal.SIGCONT)
        job.send_signal(signal.SIGCONT)  # what leads to the host stops with its child
        status, text = self.finish(job)
        self.assertEqual(status, 1)
        self.assertRegex(text.splitlines()[0], r"poe did not run, or could not be reached, for longer than 4 s \(MP_PULSE\)")
        self.assertNotIn("has not answered", text)

    def test_interrupt(self):
        job = self.begin()
        self.signal(job, signal.SIGINT)
        status, text = self.finish(job)
        self.assertEqual(status, 130, text)

    def test_interrupt_while_it_starts(self):
        for moment in (0.0, 0.1, 0.3, 0.6):
            with self.subTest(moment=moment):
                job = self.start("sh", "-c", SLEEP, "-procs", 8, "-hostfile", self.host_file(range(8)), env=TREE)
                wait_for(lambda: host_processes(0), "poe to run")
                time.sleep(moment)  # the moment is what is tested
                self.signal(job, signal.SIGINT)
                out, err = job.communicate(timeout=60)
                self.assertIn(job.returncode, (130, -2), err)

    def test_interrupt_of_a_launch_that_hangs(self):
        shell = self.write("hangs", "#!/bin/sh\nexec sleep 300\n", 0o755)
        for later in (0, 0.1, 1, 10):
            job = self.start("true", "-procs", 3, "-hostfile", self.host_file(range(3)), env={"MP_REMOTE_SHELL": shell})
            self.find(0, "sleep 300")
            time.sleep(later)  # until node0 has answered, which nobody else sees
            self.signal(job, signal.SIGINT)
            status, text = self.finish(job)
            self.assertEqual(status, 130)
            if "node0" not in text:
                break
        self.assertRegex(text, r"^ERROR: 0031-254  the job was ended by SIGINT .* and before its tasks ran; no answer from node1, node2\n$")

    def test_kill_while_output_is_stuck(self):
        job = self.begin(script="echo up; while [ ! -e go ]; do sleep 0.1; done; exec yes")
        self.write("go", "")
        wait_for(lambda: self.find(5, "yes"), "output")
        self.terminate_twice(job, "yes")
        for host in range(1, 8):
            wait_for(lambda host=host: not host_processes(host), f"host {host} to be empty")
        job.stdout.close()
        self.assertIsNotNone(job.wait(60))


class Deadlock(ClusterTest):
    def setUp(self):
        super().setUp()
        self.program = self.path("watch_tasks")
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(SOURCE / "tests/multiproc/watch_tasks.c"), "-O1", "-o",
                        self.program], check=True)

    def test_tasks_of_different_hosts(self):
        job = self.start(self.program, "receives", "x", "-procs", 6, "-hostfile", self.host_file(range(3), 2),
                         env={"MP_DEADLOCK_TIMEOUT": 1, "MP_LAUNCH_FANOUT": 1})
        try:
            lines = []
            while not any("deadlock" in line for line in lines):
                lines.append(job.stderr.readline())
                self.assertNotEqual(lines[-1], "", lines)
            self.assertRegex(lines[-1], "deadlock: tasks 0-5 wait for each other")
            looked = subprocess.run(command_on(0, BUILD / "bin" / "poestat", "-deadlock"), capture_output=True, text=True,
                                    timeout=60)
            self.assertIn("deadlock: tasks 0-5 wait for each other", looked.stdout)
            self.assertEqual(looked.returncode, 1)
            job_name = re.match("job ([a-z0-9-]+): ", looked.stdout)[1]
            table = subprocess.run(command_on(0, BUILD / "bin" / "poestat", job_name), capture_output=True, text=True,
                                   timeout=60).stdout
            self.assertEqual(re.findall(r"^ *(\d+)  (node\d) .* mpc_brecv from (\d) type 3", table, re.M),
                             [(str(t), f"node{t // 2}", str((t + 5) % 6)) for t in range(6)], table)
        finally:
            self.signal(job, signal.SIGTERM)
            job.communicate(timeout=60)

    def test_a_task_that_has_ended_with_its_daemon(self):
        source = self.write("ends.c", """#include <mpproto.h>
int main(void) { int n, me, from = 0, type = 1, x; size_t k; if (mpc_environ(&n, &me)) return 1;
                 return me == 0 ? 5 : mpc_brecv(&x, sizeof x, &from, &type, &k); }""")
        subprocess.run([str(BUILD / "bin" / "mpcc"), source, "-o", self.path("ends")], check=True)
        job = self.start(self.path("ends"), "-procs", 3, "-hostfile", self.host_file(range(3)),
                         env={"MP_DEADLOCK_TIMEOUT": 1})
        try:
            lines = []
            # If one of them comes late, poe tells of the other one before.
            while not any("tasks 1,2 wait in mpc_brecv for type 1 from task 0, which has ended" in line for line in lines):
                lines.append(job.stderr.readline())
                self.assertNotEqual(lines[-1], "", lines)
        finally:
            self.signal(job, signal.SIGTERM)
            job.communicate(timeout=60)


class AtRandom(Failures):
    """Faults at any moment, from before the first daemon is up until after the last task has ended."""

    FAULTS = ("task", "daemon", "poe", "host", "freeze", "interrupt", "terminate", "shell")
    # Seconds; of a node that is silent at a pulse of 4, or at a MP_TIMEOUT of 20 while the job is not up.
    LIMITS = {"task": 1, "daemon": 2, "poe": 5, "host": 10, "freeze": 10, "host, launch": 22, "freeze, launch": 22}

    @staticmethod
    def listens(pid):
        """Whether a process catches SIGTERM; poe does before it starts anything, and says nothing when it ends before."""
        try:
            with open(f"/proc/{pid}/status") as status:
                caught = int(re.search(r"SigCgt:\s+(\w+)", status.read())[1], 16)
        except OSError:
            return False
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def one_run(self, seed):
        """The kind of fault, whether it has ended the job, and the seconds until poe and all hosts that can be
        reached were rid of it."""
        dice = random.Random(seed)
        fault = dice.choice(self.FAULTS)
        hosts = range(dice.randint(2, 8))
        host = dice.choice(hosts[1:])
        job = self.start("sh", "-c", "echo up; sleep 2; exit 0", "-procs", len(hosts), "-labelio", "yes", "-hostfile",
                         self.host_file(hosts), env={"MP_LAUNCH_FANOUT": dice.randint(1, 4), "MP_PULSE": 4, "MP_TIMEOUT": 20})
        time.sleep(dice.uniform(0, 2.5))  # the moment is what is tested
        if fault in ("interrupt", "terminate"):
            wait_for(lambda: job.poll() is not None or self.listens(self.home(job)), "poe to listen to signals")
        begin = time.monotonic()
        victims = {"task": "sleep 2", "daemon": "pmd --channel", "shell": "BatchMode"}
        if fault in victims:
            found = [pid for pid, command in host_processes(0 if fault == "shell" else host).items()
                     if victims[fault] in command and "poe" not in command.split()[0]]
            if found:
                os.kill(dice.choice(found), signal.SIGKILL)
        elif fault == "host":
            testbed("kill", host)
        elif fault == "freeze":
            testbed("freeze", host)
        elif job.poll() is None:
            self.signal(job, {"poe": signal.SIGKILL, "interrupt": signal.SIGINT, "terminate": signal.SIGTERM}[fault])
        try:
            out, err = job.communicate(timeout=90)
            others = [one for one in hosts if fault not in ("host", "freeze") or one != host]
            wait_for(lambda: not any(host_processes(one) for one in others), f"seed {seed}, {fault} on {host}: empty hosts")
            took = time.monotonic() - begin
        except subprocess.TimeoutExpired:
            self.signal(job, signal.SIGKILL)
            out, err = job.communicate()
            self.fail(f"seed {seed}, {fault} on {host}: hangs\n{out}\n{err}")
        finally:
            if fault == "host":
                testbed("start", host)
            if fault == "freeze":
                testbed("thaw", host)
        expected = {"task": (0, 137, 255), "daemon": (0, 1, 137, 255), "poe": (0, -9, 137), "host": (0, 1), "freeze": (0, 1),
                    "interrupt": (0, 130, -2), "terminate": (0, 143, -15), "shell": (0, 1)}[fault]
        self.assertIn(job.returncode, expected, f"seed {seed}, {fault} on {host}: {out}{err}")
        if job.returncode > 0:
            self.assertRegex(err, r"ERROR: 0031-\d+  .*(task \d|node|SIG)", f"seed {seed}, {fault} on {host}")
        launching = fault in ("host", "freeze") and job.returncode != 0 and "has not answered" not in err
        return fault + ", launch" * launching, job.returncode != 0, took

    def test_many(self):
        first = int(os.environ.get("POE_FAULT_SEED", 1))
        for seed in range(first, first + RANDOM_RUNS):
            with self.subTest(seed=seed):
                self.one_run(seed)
                ClusterTest.tearDown(self)


for inherited in [name for name in dir(Failures) if name.startswith("test_")]:
    setattr(AtRandom, inherited, None)  # only its own


def print_table(runs, first):
    """Random faults, and how long each kind of them took at most."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and poe would
    times = {fault: [] for fault in (*AtRandom.FAULTS, "host, launch", "freeze, launch")}
    without_effect = dict.fromkeys(times, 0)
    failures = []
    for seed in range(first, first + runs):
        test = AtRandom("test_many")
        test.setUp()
        try:
            fault, effective, took = test.one_run(seed)
            ClusterTest.tearDown(test)
            if effective:
                times[fault].append(took)
            else:
                without_effect[fault] += 1
        except AssertionError as failure:
            failures.append(f"seed {seed}: {failure}")
        finally:
            test.doCleanups()
    print(f"{'fault':>14} {'runs':>5} {'too late':>9} {'median s':>9} {'longest s':>10} {'limit s':>8}   "
          f"(too late: the job was over before; load {os.getloadavg()[0]:.1f})")
    for fault, took in times.items():
        print(f"{fault:>14} {len(took):>5} {without_effect[fault]:>9} {statistics.median(took) if took else 0:>9.2f} "
              f"{max(took, default=0):>10.2f} {AtRandom.LIMITS.get(fault, '-'):>8}")
    print(f"{len(failures)} of {runs} runs failed", *failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    assert HOSTS in (0, 8)
    if HOSTS and sys.argv[1:2] == ["--table"]:  # --table RUNS [SEED]
        sys.exit(print_table(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1))
    main(8)
