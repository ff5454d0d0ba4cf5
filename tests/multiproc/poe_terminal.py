#!/usr/bin/env python3
"""Lines that appear at once, and tasks with a terminal of their own: -unbuffered, -pty."""

import fcntl
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from launching import DEADLINE, POE, SANITIZED, LaunchTest, clean_environment, main, poe, running, start, started, wait_for

# Prints a line and hangs, as a program does that waits for a message. If it has an argument, it makes this file before.
HANGING = r"""
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
    printf("before the hang\n");
    if (argc > 1) fclose(fopen(argv[1], "w"));
    for (;;) pause();
}
"""


class Session:
    """poe on a terminal of its own."""

    def __init__(self, *words, rows=24, columns=80, **environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(POE, [POE, *words], clean_environment(TERM="xterm", **environment))
        started.add(self.pid)
        self.resize(rows, columns)
        self.seen = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text)

    def read_until(self, wanted):
        end = time.monotonic() + DEADLINE
        while wanted not in self.seen:
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"{wanted} did not come, only {self.seen}")
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                piece = b""
            if not piece:
                raise AssertionError(f"{wanted} did not come, only {self.seen}")
            self.seen += piece
        return self.seen

    def end(self):
        while True:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                break
            if not piece:
                break
            self.seen += piece
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


class TerminalTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def compile(self, source, *flags):
        program = os.path.join(self.folder.name, "hanging")
        subprocess.run(["cc", "-x", "c", "-", "-o", program, *flags], input=source.encode(), check=True)
        return program


class Unbuffered(TerminalTest):
    def assert_lines(self, expected, *words):
        """These lines appear while the tasks hang; then the job is ended."""
        job = start(*words, "-unbuffered", "yes")
        try:
            self.assertEqual([job.stdout.readline() for _ in expected], expected)
        finally:
            job.terminate()
            rest, _ = job.communicate(timeout=DEADLINE)
        self.assertEqual((job.returncode, rest), (128 + signal.SIGTERM, b""))

    def test_lines_of_a_job_that_is_ended(self):
        program = self.compile(HANGING)
        self.assert_lines([b"before the hang\n"] * 2, program, "-procs", "2")
        hangs = pathlib.Path(self.folder.name, "hangs")
        job = start(program, hangs, env=clean_environment(MP_UNBUFFERED="no"))
        wait_for(hangs.exists, "the program to hang")
        job.terminate()
        self.assertEqual(job.communicate(timeout=DEADLINE)[0], b"")

    def test_programs_that_tasks_start(self):
        self.assert_lines([b"before the hang\n"], "sh", "-c", self.compile(HANGING) + "; true")

    def test_on_a_terminal_by_itself(self):
        program = self.compile(HANGING)
        session = Session(program)
        session.read_until(b"before the hang\r\n")
        session.type(b"\x03")
        self.assertEqual(session.end(), 130)

    def test_what_programs_see_of_it(self):
        show = 'echo "[$LD_PRELOAD]"; env | grep -c MP_UNBUFFERED_'
        self.assertEqual(poe("sh", "-c", show, "-observe", "no").stdout.split(), [b"[]", b"0"])
        session = Session("sh", "-c", show, "-observe", "no")
        self.assertEqual(session.end(), 1)  # grep finds none
        self.assertEqual(session.seen.split()[:2], [b"[]", b"0"])

    def test_python(self):
        self.assert_lines([b"first\n"], sys.executable, "-c", "import time; print('first'); time.sleep(1000)")

    def test_programs_with_a_sanitizer_still_run(self):
        try:
            program = self.compile("int main(void) { return 0; }", "-fsanitize=address")
        except subprocess.CalledProcessError:
            self.skipTest("no address sanitizer")
        session = Session(program, ASAN_OPTIONS="detect_leaks=0")
        self.assertEqual(session.end(), 0, session.seen)
        self.assertEqual(session.seen, b"")


class Help(TerminalTest):
    def test_help_is_folded_between_words_at_the_width_of_the_terminal(self):
        columns = 50
        for command in ("mptune", "mpsim", "mpmark", "pmarray", "poestat", "poekill", "vt"):
            reader, terminal = os.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            tool = subprocess.Popen([str(pathlib.Path(POE).parent / command), "-h"], stdout=terminal,
                                    stdin=subprocess.DEVNULL, env=clean_environment())
            os.close(terminal)
            shown = b""
            try:
                while piece := os.read(reader, 65536):
                    shown += piece
            except OSError:
                pass  # the terminal has no other end any more
            os.close(reader)
            self.assertEqual(tool.wait(), 0, command)
            lines = shown.decode().split("\r\n")
            self.assertGreater(len(lines), 5, command)
            self.assertLessEqual(max(map(len, lines)), columns, shown.decode())


class Pty(TerminalTest):
    def test_a_task_has_a_terminal(self):
        script = "test -t 0 && test -t 1 && test -t 2 && tty && stty size </dev/tty"
        session = Session("-pty", "yes", "sh", "-c", script, rows=33, columns=99)
        self.assertEqual(session.end(), 0, session.seen)
        self.assertIn(b"/dev/pts/", session.seen)
        self.assertIn(b"\r\n", session.seen)

    def test_a_shell(self):
        session = Session("-pty", "yes", "bash", "--norc", "-i", PS1="ready> ")
        session.read_until(b"ready> ")
        session.type(b"echo $((6 * 7))\r")
        session.read_until(b"\r42\r\n")
        # Signs belong to the task: the shell survives what ends its command.
        command = f"sleep 1000.{os.getpid()}"  # no other process has this command line
        session.type(command.encode() + b"\r")
        session.read_until(command.encode() + b"\r\n")
        wait_for(lambda: running(command), "the command")
        session.type(b"\x03")
        session.type(b"echo st''ill here\r")
        session.read_until(b"still here\r\n")
        session.resize(40, 120)
        session.type(b"until [ \"$(stty size)\" = '40 120' ]; do sleep 0.1; done; echo res''ized\r")
        session.read_until(b"resized\r\n")
        # A program for the whole screen moves by line feeds alone: none becomes a new line.
        session.type(b"stty raw; printf 'a\\nb'; stty sane; echo\r")
        session.read_until(b"a\nb")
        session.type(b"exit 7\r")
        self.assertEqual(session.end(), 7)

    def test_the_terminal_is_as_before(self):
        before = subprocess.run(["stty", "-a"], capture_output=True, stdin=self.terminal()[1]).stdout
        master, slave = self.terminal()
        shell = subprocess.run(["sh", "-c", f"stty -a; {POE} -pty yes sh -c 'kill -KILL $$'; stty -a"], stdin=slave,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=clean_environment(),
                               start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        half = len(shell.stdout) // 2
        self.assertEqual(shell.stdout[:half], shell.stdout[half:])
        self.assertTrue(before)

    def terminal(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        return master, slave

    def test_with_pipes(self):
        result = self.ok(poe("-pty", "yes", "sh", "-c", "stty -echo; read a; echo got $a; test -t 1 && echo terminal",
                             input=b"word\n"))
        self.assertIn(b"got word\n", result.stdout)
        self.assertIn(b"terminal\n", result.stdout)
        self.assertNotIn(b"terminal\r", result.stdout)

    def test_the_end_of_input(self):
        result = self.ok(poe("-pty", "yes", "sh", "-c", "stty -echo; echo ready; wc -l", input=b"a\nb\n"))
        self.assertIn(b"2", result.stdout.split())

    def test_several_tasks(self):
        result = self.ok(poe("-pty", "yes", "-procs", "3", "-labelio", "yes", "sh", "-c", "test -t 1 && echo terminal"))
        self.assertEqual(sorted(result.stdout.splitlines()), [b"   %d:terminal" % i for i in range(3)])


if __name__ == "__main__":
    main()
