#!/usr/bin/env python3
"""What a dying task leaves: the stacks of its threads as text, or the kernel's core file."""

import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

from launching import BUILD, LaunchTest, SANITIZED, clean_environment, main, poe, processes, running, start, wait_for

TASK = str(BUILD / "bin" / "core_task")
LINES = pathlib.Path(__file__).with_name("core_task.c").read_text().splitlines()
UNTRACED = subprocess.run([str(BUILD / "bin" / "pmd-core"), "0", "STDERR", "/bin/true", "true"],
                          capture_output=True).stderr


def line_of(text):
    """The number of the line of the task's source that has this text."""
    return next(number for number, line in enumerate(LINES, 1) if text in line)


FAULT = line_of("= sink")
CALL = line_of("the_bad_place(argv")


class CoreTest(LaunchTest):
    def setUp(self):
        super().setUp()
        if UNTRACED:
            self.skipTest("nobody may trace here: " + UNTRACED.decode())
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def run_in(self, *args, **options):
        return poe(*args, cwd=self.directory.name, **options)

    def file(self, name):
        return pathlib.Path(self.directory.name, name)


class Stacks(CoreTest):
    def test_every_thread_with_function_file_and_line(self):
        result = self.ok(self.run_in(TASK, "1", "fault", "-procs", "3", "-corefile_format", "lite"), 128 + signal.SIGSEGV)
        text = self.file("coredir.1/lite").read_text()
        self.assertEqual(text.count("+++STACK"), 2)
        self.assertIn('***FAULT "SIGSEGV', text)
        self.assertRegex(text, rf"the_bad_place : {FAULT} # in \S*core_task\.c\nmain : {CALL} # in ")
        self.assertIn("do_nothing", text)
        self.assertEqual(os.listdir(self.directory.name), ["coredir.1"])
        self.assertNotIn(b"no core", result.stderr)
        # In the report the person reads where.
        report = result.stderr.decode()
        report = report[report.index("ERROR:"):]
        self.assertRegex(report, rf"\| poe: task 1 gets SIGSEGV in the_bad_place \(core_task\.c:{FAULT}\), called by main "
                                 rf"\(core_task\.c:{CALL}\).*; all stacks are in coredir\.1/lite\n")

    def test_names_of_one_letter(self):
        self.ok(self.run_in(TASK, "0", "short", "-procs", "1", "-corefile_format", "lite"), 128 + signal.SIGSEGV)
        text = self.file("coredir.0/lite").read_text()
        self.assertRegex(text, r"the_bad_place : .*\nv : .*\nf : .*\nmain : ")

    def test_abort(self):
        self.ok(self.run_in(TASK, "0", "abort", "-procs", "2", "-corefile_format", "lite"), 128 + signal.SIGABRT)
        self.assertIn(f"the_bad_place : {line_of('abort()')} #", self.file("coredir.0/lite").read_text())

    def test_the_programs_own_handler_comes_first(self):
        result = self.ok(self.run_in(TASK, "0", "handler", "-corefile_format", "lite"), 128 + signal.SIGSEGV)
        self.assertIn(b"the program's own handler\npoe: task 0 gets SIGSEGV in ", result.stderr)
        self.assertIn(f"the_bad_place : {FAULT} #", self.file("coredir.0/lite").read_text())

    def test_names_and_places(self):
        result = self.run_in(TASK, "0", "abort", "-corefile_format", "STDERR")
        self.assertIn(b"+++STACK", result.stderr)
        self.assertEqual(os.listdir(self.directory.name), [])
        self.run_in(TASK, "0", "abort", "-corefile_format", "mine", "-coredir", "none")
        self.run_in(TASK, "0", "abort", "-corefile_format", "mine", "-coredir", "deep/er/core")
        self.assertTrue(self.file("mine.0").is_file())
        self.assertTrue(self.file("deep/er/core.0/mine").is_file())

    def test_the_report_does_not_repeat_the_stack(self):
        result = self.run_in(TASK, "0", "abort", "-procs", "2", "-corefile_format", "STDERR")
        output, _, report = result.stderr.partition(b"ERROR: 0031-250")
        self.assertIn(b"+++STACK", output)
        self.assertIn(b"---LCB", output)
        self.assertIn(b"| poe: task 0 gets SIGABRT in ", report)
        for part in (b"+++", b"---", b"# in ", b"***FAULT"):
            self.assertNotIn(part, report)

    def test_a_place_that_cannot_be_written(self):
        self.file("coredir.0").write_text("in the way")
        result = self.ok(self.run_in(TASK, "0", "abort", "-corefile_format", "lite"), 128 + signal.SIGABRT)
        self.assertRegex(result.stderr, rb"poe: task 0 gets SIGABRT in .*; its stacks are lost: ")

    def test_sigterm_when_asked(self):
        job = start(TASK, "0", "abort", "-procs", "3", "-corefile_format", "lite", "-corefile_sigterm", "yes",
                    stdin=subprocess.PIPE, cwd=self.directory.name, env=clean_environment(MP_KILL_GRACE=30000))
        def calls():
            """The system calls in which the main threads of the programs are, by their numbers on x86-64."""
            with contextlib.suppress(OSError):  # one has just begun
                return sorted(pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0]
                              for pid, (_, _, command) in processes().items() if command.startswith(TASK + " "))
        wait_for(lambda: calls() == ["0", "34", "34"], "one program to read and two to pause")
        job.communicate(b"go\n", 60)
        for task in (1, 2):
            text = self.file(f"coredir.{task}/lite").read_text()
            self.assertIn('***FAULT "SIGTERM', text)
            self.assertIn(f"main : {LINES.index('    for (;;) pause();', CALL) + 1} #", text)

    def test_programs_that_end_well_leave_nothing(self):
        result = self.ok(self.run_in("sh", "-c", "echo $MP_CHILD; cat", "-procs", "3", "-corefile_format", "lite",
                                     input=b"in\n"))
        self.assertEqual(sorted(result.stdout.split()), [b"0", b"1", b"2"] + [b"in"] * 3)
        self.assertEqual(os.listdir(self.directory.name), [])

    def test_no_child_that_the_program_does_not_know(self):
        script = "import os\ntry: os.wait()\nexcept ChildProcessError: print('none')"
        result = self.ok(self.run_in(sys.executable, "-c", script, "-corefile_format", "lite"))
        self.assertEqual(result.stdout, b"none\n")

    def test_stop_and_go_on(self):
        script = f"echo ready; read line; echo $line; : {self.marker}"
        job = start("sh", "-c", script, "-corefile_format", "lite", stdin=subprocess.PIPE, cwd=self.directory.name)
        self.assertEqual(job.stdout.readline(), b"ready\n")
        commands = {pid: command for pid, (_, _, command) in processes().items()}
        task = next(pid for pid in running(self.marker) if commands[pid].startswith("sh"))
        os.kill(task, signal.SIGSTOP)
        state = lambda: pathlib.Path(f"/proc/{task}/stat").read_text().rsplit(")", 1)[1].split()[0]
        wait_for(lambda: state() in "Tt", "the stop")
        os.kill(task, signal.SIGCONT)
        wait_for(lambda: state() in "SR", "the task to go on")
        out, err = job.communicate(b"went on\n", 60)
        self.assertEqual((out, err, job.returncode), (b"went on\n", b"", 0))

    def test_a_missing_program(self):
        result = self.run_in("./no-such-program", "-corefile_format", "lite")
        self.assertEqual(result.returncode, 255)
        self.assertIn(b"no-such-program", result.stderr)

    def test_a_script_without_its_first_line(self):
        self.file("script").write_text("echo script $1\n")
        self.file("script").chmod(0o755)
        result = self.ok(self.run_in("./script", "word", "-corefile_format", "lite"))
        self.assertEqual(result.stdout, b"script word\n")


@unittest.skipIf(SANITIZED, "a sanitizer's address space is too large to dump")
class Cores(CoreTest):
    def setUp(self):
        super().setUp()
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if pattern.startswith(("|", "/")) or "%" in pattern:
            self.skipTest("cores do not go to the working directory here: core_pattern is " + pattern)

    def test_each_in_a_directory_of_its_own(self):
        allow = lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
        result = self.ok(self.run_in(TASK, "1", "fault", "-procs", "2", preexec_fn=allow), 128 + signal.SIGSEGV)
        self.assertIn(b"core dumped", result.stderr)
        self.assertEqual(os.listdir(self.directory.name), ["coredir.1"])
        self.assertEqual(self.file("coredir.1/core").read_bytes()[:4], b"\x7fELF")


if __name__ == "__main__":
    main()
