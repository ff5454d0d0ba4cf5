#!/usr/bin/env python3
"""The end of a job, good or bad: its status, its report, and that nothing is left of it."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time

from launching import (DEADLINE, POE, LaunchTest, children_of, clean_environment, daemon_of, descendants_of, main, meeting,
                       poe, processes, running, start, wait_for)

PATIENT = {"MP_KILL_GRACE": 30000}  # for tasks that are to end by SIGTERM, however late they run


def report_of(*args, **options):
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "report.json")
        result = poe(*args, "-report", file, **options)
        return result, json.loads(pathlib.Path(file).read_text())


class Status(LaunchTest):
    def in_folder(self, *args, **options):
        """A job whose tasks can meet in its working directory."""
        with tempfile.TemporaryDirectory() as folder:
            return poe(*args, cwd=folder, **options)

    def test_orderly_codes_give_the_largest(self):
        result = poe("sh", "-c", "exit $((MP_CHILD * 2))", "-procs", "4")
        self.ok(result, 6)
        self.assertIn(b"0031-251", result.stderr)

    def test_an_orderly_end_leaves_the_others_alone(self):
        script = "[ $MP_CHILD = 0 ] && exit 7; sleep 0.7; echo done"
        result = self.ok(poe("sh", "-c", script, "-procs", "3"), 7)
        self.assertEqual(result.stdout, b"done\n" * 2)

    def test_codes_that_end_the_job(self):
        for code in (1, 128, 200, 255):
            script = f"[ $MP_CHILD = 2 ] && exit {code}; sleep 600; : {self.marker}"
            result = self.ok(poe("sh", "-c", script, "-procs", "4"), code)
            self.assertIn(f"task 2 (node".encode(), result.stderr)
            self.assertIn(f"exited with code {code}".encode(), result.stderr)

    def test_death_by_a_signal(self):
        for number, name in ((11, "SIGSEGV"), (6, "SIGABRT"), (9, "SIGKILL"), (15, "SIGTERM"), (13, "SIGPIPE")):
            script = f"[ $MP_CHILD = 1 ] && kill -{number} $$; sleep 600; : {self.marker}"
            result = self.ok(poe("sh", "-c", script, "-procs", "3"), 128 + number)
            self.assertIn(f"killed by {name}".encode(), result.stderr)

    def test_core_is_mentioned(self):
        result = poe("sh", "-c", "kill -SEGV $$")
        self.assertRegex(result.stderr, rb"core dumped")

    def test_the_report_ends_with_the_first_failure_and_the_folded_rest(self):
        script = f"for i in 1 2 3 4 5 6 7; do echo word $i of $MP_CHILD >&2; done; {meeting()}; " \
                 f"[ $MP_CHILD = 3 ] && exit 1; sleep 600; : {self.marker}"
        result = self.ok(self.in_folder("sh", "-c", script, "-procs", "8", env=clean_environment(**PATIENT)), 1)
        text = result.stderr.decode()
        report = text[text.index("ERROR:"):].splitlines()
        self.assertRegex(report[0], r"^ERROR: 0031-251  task 3 \(node \S+, sh\) exited with code 1, \d+\.\d+ s after the start$")
        self.assertEqual(report[2:7], [f"       | word {i} of 3" for i in range(3, 8)])
        self.assertEqual(report[7:], ["       tasks 0-2,4-7 ended by poe (SIGTERM)"])

    def test_tasks_that_ignore_sigterm(self):
        script = f"trap '' TERM; {meeting()}; [ $MP_CHILD = 1 ] && exit 1; while :; do sleep 600; : {self.marker}; done"
        result = self.ok(self.in_folder("sh", "-c", script, "-procs", "3"), 1)
        self.assertIn(b"tasks 0,2 ended by poe (SIGKILL)", result.stderr)

    def test_tasks_may_clean_up(self):
        script = f"trap 'echo cleaned; exit 0' TERM; {meeting()}; [ $MP_CHILD = 0 ] && exit 1; while :; do sleep 0.05; done"
        result = self.ok(self.in_folder("sh", "-c", script, "-procs", "3", env=clean_environment(**PATIENT)), 1)
        self.assertEqual(result.stdout, b"cleaned\n" * 2)

    def test_json_report(self):
        result, report = report_of("sh", "-c", "echo 'last \xff' >&2; [ $MP_CHILD = 1 ] && kill -9 $$; sleep 600", "-procs", "2")
        self.ok(result, 137)
        self.assertEqual((report["status"], report["cause"]), (137, "signal"))
        self.assertEqual((report["first_failure"]["task"], report["first_failure"]["signal_name"]), (1, "SIGKILL"))
        self.assertEqual(len(report["first_failure"]["last_stderr"]), 1)
        self.assertEqual([(t["task"], t["ended_by_poe"]) for t in report["tasks"]], [(0, True), (1, False)])
        result, report = report_of("true", "-procs", "2")
        self.assertEqual((result.returncode, report["status"], report["cause"]), (0, 0, "none"))
        self.assertEqual([t["code"] for t in report["tasks"]], [0, 0])
        result, report = report_of("no-such-program-here", "-procs", "2")
        self.assertEqual((result.returncode, report["cause"], len(report["not_started"])), (255, "not started", 2))

    def test_the_report_on_standard_output(self):
        result = self.ok(poe("sh", "-c", "echo out; exit 3", "-report", "-"), 3)
        head, _, rest = result.stdout.partition(b"{")
        self.assertEqual(head, b"out\n")
        self.assertEqual(json.loads(b"{" + rest)["status"], 3)

    def test_a_report_that_cannot_be_written_is_a_failure(self):
        result = self.ok(poe("true", "-report", "/dev/full"), 1)
        self.assertIn(b"cannot write the report to /dev/full: No space left on device", result.stderr)
        self.ok(poe("sh", "-c", "exit 3", "-report", "/dev/full"), 3)

    def test_a_closed_standard_output(self):
        result = self.ok(poe("echo", "hi", "-procs", "2", preexec_fn=lambda: os.close(1)), 1)
        self.assertIn(b"cannot write standard output: Bad file descriptor", result.stderr)
        self.ok(poe("true", "-procs", "2", preexec_fn=lambda: os.close(1)))

    def test_messages_contain_nothing_that_a_terminal_obeys(self):
        with tempfile.TemporaryDirectory() as folder:
            name = folder + "/\x1b[2Jname"
            pathlib.Path(name).write_text("#!/bin/sh\nprintf 'last \\033[31mwords\\n' >&2; exit 1\n")
            os.chmod(name, 0o755)
            result = self.ok(poe(name, "-procs", "2"), 1)
        report = result.stderr[result.stderr.index(b"ERROR"):]
        self.assertNotIn(b"\x1b", report)
        self.assertIn(rb"\x1b[2Jname", report)
        self.assertIn(rb"| last \x1b[31mwords", report)

    def test_maxtime(self):
        result = self.ok(poe("sh", "-c", f"sleep 600; : {self.marker}", "-maxtime", "1", "-procs", "2"), 124)
        self.assertIn(b"-maxtime", result.stderr)


class Grandchildren(LaunchTest):
    def test_what_tasks_leave_in_the_background_goes_with_the_job(self):
        hider = "import os,sys,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(600)"
        script = f"sleep 600 & {sys.executable} -c '{hider}' {self.marker}; echo started"
        result = self.ok(poe("sh", "-c", script, self.marker, "-procs", "2"))
        self.assertEqual(result.stdout, b"started\n" * 2)

    def test_output_of_the_background_until_the_end(self):
        """Of a task that has ended itself. The job ends when this output is written."""
        script = "[ $MP_CHILD = 0 ] && { while kill -0 $$; do sleep 0.05; done; echo late; >late; } 2>/dev/null & " \
                 "[ $MP_CHILD = 1 ] && until [ -e late ]; do sleep 0.05; done; true"
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.ok(poe("sh", "-c", script, "-procs", "2", cwd=folder)).stdout, b"late\n")


class Kills(LaunchTest):
    """SIGKILL for poe, for pmd, for a task, for all at once, at random moments."""

    def job(self, *flags):
        script = f"(sleep 600; : {self.marker}) & echo ready; wait"
        return start("sh", "-c", script, self.marker, "-procs", "4", *flags)

    def ready(self, job):
        for _ in range(4):
            self.assertEqual(job.stdout.readline(), b"ready\n")

    def test_poe(self):
        job = self.job()
        self.ready(job)
        job.kill()
        job.communicate(timeout=DEADLINE)

    def test_pmd(self):
        job = self.job()
        self.ready(job)
        os.kill(daemon_of(job.pid), signal.SIGKILL)
        _, err = job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 1)
        self.assertIn(b"the daemon pmd on ", err)
        self.assertNotIn(b"killed by Killed", err)  # but by SIGKILL, if that is seen before the channel's end

    def test_poe_and_pmd_at_once(self):
        job = self.job()
        self.ready(job)
        pmd = daemon_of(job.pid)
        os.kill(job.pid, signal.SIGSTOP)
        os.kill(pmd, signal.SIGKILL)
        os.kill(job.pid, signal.SIGKILL)
        job.communicate(timeout=DEADLINE)
        # The tasks die with pmd; what they had started, and the files, wait for the next job.
        wait_for(lambda: not [pid for pid, (parent, state, command) in processes().items() if self.marker in command and
                              "echo ready" in command and parent in (pmd, job.pid) and state != "Z"], "the tasks to be gone")
        for pid in running(self.marker):
            with contextlib.suppress(ProcessLookupError):  # ended with the one before
                os.killpg(os.getpgid(pid), signal.SIGKILL)
        self.ok(poe("true"))

    def test_a_task(self):
        job = self.job()
        self.ready(job)
        tasks = descendants_of(daemon_of(job.pid))
        os.kill(tasks[0], signal.SIGKILL)
        job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 137)

    def test_anything_at_random_moments(self):
        random.seed(1)
        for _ in range(40):
            job = self.job()
            time.sleep(random.random() * 0.03)
            daemons = children_of(job.pid)
            tasks = [pid for daemon in daemons for pid in children_of(daemon)]
            victim = random.choice([job.pid] + daemons + tasks)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
            job.communicate(timeout=DEADLINE)
            self.assertNotEqual(job.returncode, 0)

    def test_a_silent_daemon_is_noticed(self):
        job = self.job("-pulse", "3")
        self.ready(job)
        os.kill(daemon_of(job.pid), signal.SIGSTOP)
        _, err = job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 1)
        self.assertIn(b"MP_PULSE", err)


class Signals(LaunchTest):
    # What poe says if tasks have not ended a second after SIGINT.
    GOES_ON = rb"ATTENTION: 0031-378  SIGINT was passed to the tasks, of which \d+ goe?s? on; a second one ends the job, as poe " \
              rb"does itself \d+ s after the first \(MP_INTERRUPT_GRACE\)\n"

    def job(self, script):
        job = start("sh", "-c", script + f" # {self.marker}", "-procs", "3")
        for _ in range(3):
            self.assertEqual(job.stdout.readline(), b"ready\n")
        return job

    def test_interrupt(self):
        job = self.job("echo ready; while :; do sleep 0.05; done")
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 130)
        self.assertIn(b"SIGINT", err)

    def test_interrupt_that_tasks_handle(self):
        job = self.job("trap 'echo caught; exit 0' INT; echo ready; while :; do sleep 0.05; done")
        job.send_signal(signal.SIGINT)
        out, err = job.communicate(timeout=DEADLINE)
        self.assertEqual((job.returncode, out, re.sub(self.GOES_ON, b"", err)), (0, b"caught\n" * 3, b""))

    def test_tasks_that_go_on_after_an_interrupt_are_ended_in_the_end(self):
        script = "trap 'echo caught' INT; echo ready; while :; do sleep 0.1; done"
        job = start("sh", "-c", script, env=clean_environment(MP_INTERRUPT_GRACE=3))
        self.assertEqual(job.stdout.readline(), b"ready\n")
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.stdout.readline(), b"caught\n")
        self.assertRegex(job.stderr.readline(), rb"ATTENTION: 0031-378  SIGINT was passed to the tasks, of which 1 goes on; "
                         rb"a second one ends the job, as poe does itself 3 s after the first")
        _, err = job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 130)
        self.assertIn(b"ended by SIGINT", err)

    def test_no_word_of_a_second_interrupt_where_tasks_end(self):
        def ended_within_a_second():
            """What a job has said that has ended so soon after SIGINT; a busy computer may take longer."""
            job = start("sh", "-c", "trap 'exit 0' INT; echo ready; while :; do sleep 0.1; done")
            self.assertEqual(job.stdout.readline(), b"ready\n")
            signalled = time.monotonic()
            job.send_signal(signal.SIGINT)
            err = job.communicate(timeout=DEADLINE)[1]
            return [err] if time.monotonic() - signalled < 1 else None
        self.assertEqual(wait_for(ended_within_a_second, "a job that ends soon"), [b""])

    def test_a_node_that_does_not_answer_is_named(self):
        for end in (signal.SIGTERM, signal.SIGINT):
            with tempfile.NamedTemporaryFile("w") as hosts:
                hosts.write("silent.example\n")
                hosts.flush()
                marker = f"1000.{os.getpid()}"
                job = start("true", "-hostfile", hosts.name,
                            env=clean_environment(MP_REMOTE_SHELL=f"sh -c 'sleep {marker}'"))
                wait_for(lambda: running(marker), "the remote shell")
                job.send_signal(end)
                _, err = job.communicate(timeout=DEADLINE)
            self.assertEqual(job.returncode, 128 + end)
            self.assertIn(b"no answer from silent.example", err)

    def test_a_poe_that_was_stopped_accuses_nobody(self):
        job = start("sh", "-c", "echo ready; read line; echo $line", "-pulse", "3", stdin=subprocess.PIPE)
        self.assertEqual(job.stdout.readline(), b"ready\n")
        os.kill(job.pid, signal.SIGSTOP)
        time.sleep(5)  # longer than the pulse
        os.kill(job.pid, signal.SIGCONT)
        # More than a pulse passes before the job ends.
        time.sleep(4)
        out, err = job.communicate(b"alive\n", DEADLINE)
        self.assertEqual((job.returncode, out, err), (0, b"alive\n", b""))

    def test_second_interrupt_kills(self):
        job = self.job("trap 'echo caught' INT TERM; echo ready; while :; do sleep 0.05; done")
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.stdout.readline(), b"caught\n")
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 130)

    def test_terminate_and_hang_up(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            job = self.job("echo ready; while :; do sleep 0.05; done")
            job.send_signal(number)
            job.communicate(timeout=DEADLINE)
            self.assertEqual(job.returncode, 128 + number)

    def test_nohup(self):
        job = start("sh", "-c", "echo ready; sleep 0.5; kill -HUP $$; echo survived", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(job.stdout.readline(), b"ready\n")
        job.send_signal(signal.SIGHUP)
        self.assertEqual(job.communicate(timeout=DEADLINE)[0], b"survived\n")
        self.assertEqual(job.returncode, 0)

    def test_user_signals_are_forwarded(self):
        job = self.job("trap 'echo one' USR1; trap 'exit 0' USR2; echo ready; while :; do sleep 0.05; done")
        job.send_signal(signal.SIGUSR1)
        for _ in range(3):
            self.assertEqual(job.stdout.readline(), b"one\n")
        job.send_signal(signal.SIGUSR2)
        job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 0)

    def test_stop_and_continue(self):
        job = self.job(f"echo ready; exec {sys.executable} -c 'while True: pass' {self.marker}")

        def states():
            return {processes().get(pid, (0, "?", ""))[1] for pid in children_of(pmd)}
        pmd = daemon_of(job.pid)
        job.send_signal(signal.SIGTSTP)
        wait_for(lambda: states() == {"T"}, "the tasks to stop")
        wait_for(lambda: processes()[job.pid][1] == "T", "poe to stop")
        job.send_signal(signal.SIGCONT)
        wait_for(lambda: states() == {"R"}, "the tasks to go on")
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 143)

    def test_control_c_in_a_terminal(self):
        leader, follower = pty.openpty()
        job = subprocess.Popen([POE, "sh", "-c", f"echo ready; sleep 600; : {self.marker}", "-procs", "2"], stdin=follower,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(),
                               preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
        self.assertEqual(job.stdout.readline(), b"ready\n")
        os.write(leader, b"\x03")
        job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 130)
        os.close(leader)
        os.close(follower)


class Idle(LaunchTest):
    def test_no_cpu_while_tasks_compute(self):
        job = start("sh", "-c", f"echo ready; sleep 600; : {self.marker}", "-procs", "4", stdin=subprocess.PIPE)
        pmd = daemon_of(job.pid)
        self.assertEqual(job.stdout.readline(), b"ready\n")

        def ticks():
            total = 0
            for pid in (job.pid, pmd):
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                total += int(fields[11]) + int(fields[12])
            return total

        def idle():
            before = ticks()
            time.sleep(2)  # the time in which nothing happens; who polls works in all of them
            return ticks() - before <= 1  # a tick is 10 ms
        wait_for(idle, "poe and pmd to be idle")
        job.terminate()
        job.communicate(timeout=DEADLINE)


if __name__ == "__main__":
    main()
