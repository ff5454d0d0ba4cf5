#!/usr/bin/env python3
"""Standard streams: nothing lost, nothing torn, nothing swallowed."""

import collections
import fcntl
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios

from launching import (DEADLINE, POE, SANITIZED, LaunchTest, clean_environment, descendants_of, main, poe, processes, start,
                       wait_for)

PYTHON = sys.executable

# Writes COUNT numbered lines of LENGTH bytes in pieces that do not end where lines end.
WRITER = r"""
import os, sys
task, count, length, piece = os.environ["MP_CHILD"], int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def lines():
    for i in range(count):
        head = f"{task} {i} "
        yield (head + chr(97 + i % 26) * (length - len(head) - 1) + "\n").encode()
data = b"".join(lines())
for at in range(0, len(data), piece):
    os.write(1, data[at:at + piece])
"""


def check_lines(test, output, tasks, count, length):
    seen = collections.Counter()
    for line in output.splitlines():
        task, number, fill = line.split(b" ")
        test.assertEqual(int(number), seen[int(task)], "out of order or lost")
        test.assertEqual(len(line), length - 1)
        test.assertEqual(fill, bytes([97 + int(number) % 26]) * len(fill))
        seen[int(task)] += 1
    test.assertEqual(seen, {task: count for task in range(tasks)})


def wait_for_full_buffers(job):
    """Returns when every `yes` among the tasks of the job is blocked in a write and has written nothing since the look
    before, because nobody reads the output of the job."""
    before = None

    def full():
        nonlocal before
        writers = [pid for pid in descendants_of(job.pid) if processes().get(pid, (0, "", ""))[2].startswith("yes")]
        calls = [pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0] for pid in writers]
        written = [re.search(r"wchar: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text())[1] for pid in writers]
        earlier, before = before, written
        return writers and all(call == "1" for call in calls) and written == earlier  # 1: write()
    wait_for(full, "all buffers to be full")


class Output(LaunchTest):
    def test_lines_of_many_tasks_are_never_torn(self):
        for length, piece in ((80, 4096), (80, 777), (13, 65536), (5000, 8191)):
            result = self.ok(poe(PYTHON, "-c", WRITER, str(400000 // length), str(length), str(piece), "-procs", "8"))
            check_lines(self, result.stdout, 8, 400000 // length, length)

    def test_labelled_lines_are_never_torn(self):
        result = self.ok(poe(PYTHON, "-c", WRITER, "5000", "80", "1000", "-procs", "4", "-labelio", "yes"))
        plain = []
        for line in result.stdout.splitlines(True):
            label, rest = line.split(b":", 1)
            self.assertEqual(label, b"%4d" % int(rest.split()[0]))
            plain.append(rest)
        check_lines(self, b"".join(plain), 4, 5000, 80)

    def test_lines_of_a_megabyte(self):
        length = 1 << 20
        result = self.ok(poe(PYTHON, "-c", WRITER, "3", str(length), "65536", "-procs", "4"))
        check_lines(self, result.stdout, 4, 3, length)

    def test_the_last_line_needs_no_newline(self):
        self.assertEqual(self.ok(poe("printf", "a\nb")).stdout, b"a\nb")
        self.assertEqual(sorted(self.ok(poe("printf", "x", "-procs", "3")).stdout.split(b"\n")), [b"x"] * 3)
        self.assertEqual(self.ok(poe("printf", "x", "-labelio", "yes")).stdout, b"   0:x\n")

    def test_last_words_of_a_dying_task(self):
        result = poe("sh", "-c", "printf out; printf err >&2; kill -KILL $$", "-procs", "2", "-stdoutmode", "ordered")
        self.ok(result, 137)
        self.assertIn(b"out", result.stdout)
        self.assertIn(b"err", result.stderr)

    def test_every_byte_passes(self):
        data = bytes(range(256)) * 1000
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            self.assertEqual(self.ok(poe("cat", file.name)).stdout, data)

    def test_carriage_returns_appear_at_once_and_with_labels(self):
        script = r"printf '10%%\r20%%\r'; read x; printf 'done\r\n'"
        job = start("sh", "-c", script, "-labelio", "yes", stdin=subprocess.PIPE)
        seen = b""
        while seen.count(b"\r") < 2:
            piece = os.read(job.stdout.fileno(), 100)
            self.assertTrue(piece)
            seen += piece
        out, _ = job.communicate(b"go\n")
        self.assertEqual(seen + out, b"   0:10%\r   0:20%\r   0:done\r\n")

    def test_a_partial_line_of_stderr_appears_while_the_task_runs(self):
        job = start("sh", "-c", "printf password: >&2; read x; echo thanks", stdin=subprocess.PIPE)
        self.assertEqual(os.read(job.stderr.fileno(), 100), b"password:")
        self.assertEqual(job.communicate(b"x\n")[0], b"thanks\n")

    def test_a_message_begins_a_line(self):
        """Also if a task has written a part of a line. What the program's reader gets does not change."""
        for stream in "", " >&2":
            ended = ["sh", "-c", f"printf partial{stream}; exit 3"]
            both = poe(*ended, "-procs", "1", stderr=subprocess.STDOUT).stdout
            self.assertRegex(both, rb"\Apartial\nERROR: 0031-251 .*\n")
            apart = poe(*ended, "-procs", "1")
            self.assertEqual(apart.stdout, b"" if stream else b"partial")
            self.assertRegex(apart.stderr, rb"\Apartial\nERROR: " if stream else rb"\AERROR: ")

    def test_partial_lines_of_two_tasks_do_not_mix(self):
        """Each task writes when what was written before has appeared."""
        script = "[ $MP_CHILD = 0 ] && printf start >&2; until [ -e go.$MP_CHILD ]; do sleep 0.05; done; " \
                 "[ $MP_CHILD = 1 ] && echo other >&2 || echo end >&2"
        with tempfile.TemporaryDirectory() as folder:
            job = start("sh", "-c", script, "-procs", "2", "-labelio", "yes", cwd=folder)
            seen = b""
            for shown, task in (b"start", 1), (b"other", 0):
                while shown not in seen:
                    piece = os.read(job.stderr.fileno(), 100)
                    self.assertTrue(piece, seen)
                    seen += piece
                pathlib.Path(folder, f"go.{task}").touch()
            _, rest = job.communicate(timeout=DEADLINE)
        self.assertEqual((job.returncode, seen + rest), (0, b"   0:start\n   1:other\n   0:end\n"))

    def test_a_task_that_closes_its_streams(self):
        result = self.ok(poe("sh", "-c", "echo before; exec >&- 2>&-; exit 5", "-procs", "2"), 5)
        self.assertEqual(result.stdout, b"before\n" * 2)

    def test_streams_stay_apart(self):
        result = self.ok(poe("sh", "-c", "echo out; echo err >&2", "-procs", "3", "-labelio", "yes"))
        self.assertEqual(sorted(result.stdout.splitlines()), [b"   %d:out" % i for i in range(3)])
        self.assertEqual(sorted(result.stderr.splitlines()), [b"   %d:err" % i for i in range(3)])

    def test_ordered(self):
        script = "sleep 0.$((3 - MP_CHILD)); echo a $MP_CHILD; echo b $MP_CHILD"
        result = self.ok(poe("sh", "-c", script, "-procs", "4", "-stdoutmode", "ordered"))
        self.assertEqual(result.stdout, b"".join(b"a %d\nb %d\n" % (i, i) for i in range(4)))

    def test_ordered_beyond_memory(self):
        script = "head -c 30000000 /dev/zero | tr '\\0' $MP_CHILD"
        result = self.ok(poe("sh", "-c", script, "-procs", "4", "-stdoutmode", "ordered"))
        self.assertEqual(result.stdout, b"\n".join(b"%d" % i * 30000000 for i in range(4)))

    def test_ordered_with_no_space_for_it(self):
        env = clean_environment(TMPDIR="/proc")
        result = poe("sh", "-c", "head -c 90000000 /dev/zero; sleep 30", "-stdoutmode", "ordered", env=env)
        self.ok(result, 1)
        self.assertIn(b"TMPDIR", result.stderr)

    def test_one_task(self):
        result = self.ok(poe("sh", "-c", "echo $MP_CHILD; echo e$MP_CHILD >&2", "-procs", "4", "-stdoutmode", "2"))
        self.assertEqual(result.stdout, b"2\n")
        self.assertEqual(sorted(result.stderr.split()), [b"e0", b"e1", b"e2", b"e3"])

    def test_a_reader_that_goes_away_ends_the_job_quietly(self):
        command = f"{POE} sh -c 'while :; do echo line; done' -procs 4 | head -1"
        result = subprocess.run(["bash", "-c", command], capture_output=True, timeout=DEADLINE, env=clean_environment(),
                                stdin=subprocess.DEVNULL)
        self.assertEqual((result.stdout, result.stderr), (b"line\n", b""))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([POE, "sh", "-c", "echo x; exec sleep 60"], stdout=full, stderr=subprocess.PIPE,
                                    stdin=subprocess.DEVNULL, timeout=DEADLINE, env=clean_environment())
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"No space left on device", result.stderr)

    def test_a_reader_that_stops_does_not_stop_a_kill(self):
        job = start("sh", "-c", f"yes {self.marker}", "-procs", "2")
        os.read(job.stdout.fileno(), 1000)
        wait_for_full_buffers(job)
        job.send_signal(signal.SIGTERM)
        wait_for(lambda: not [p for p in descendants_of(job.pid) if "yes" in processes().get(p, (0, "", ""))[2]],
                 "the tasks to be gone")
        job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 143)

    def test_memory_stays_bounded_while_nobody_reads(self):
        job = start("sh", "-c", "yes", "-procs", "4")
        os.read(job.stdout.fileno(), 1000)

        wait_for_full_buffers(job)
        peak = max(int(line.split()[1]) for pid in [job.pid] + descendants_of(job.pid)
                   for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
        job.kill()
        job.communicate()
        if not SANITIZED:
            self.assertLess(peak, 64 << 10, "KB resident")

    def test_closed_standard_descriptors(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            result = subprocess.run(["bash", "-c", f"{POE} sh -c 'exit 3' -procs 2 {closed}"], timeout=DEADLINE,
                                    env=clean_environment(), capture_output=True)
            self.assertEqual(result.returncode, 3, closed)

    def test_labels_with_times(self):
        """A line's time is that of its task's write: what comes after a line was read by the task that reads it has
        a later one."""
        env = clean_environment(MP_LABELFORMAT="%t %s %r|")
        script = "echo first; echo aside >&2; read line; echo second $line"
        job = start("sh", "-c", script, "-procs", "2", "-labelio", "yes", env=env, stdin=subprocess.PIPE)
        first = [job.stdout.readline() for _ in range(2)]
        out, err = job.communicate(b"go\n", DEADLINE)
        self.assertEqual(job.returncode, 0, err)
        form = re.compile(rb"(\d\d:\d\d:\d\d\.\d{3}) (\d+\.\d{3}) ([01])\|(.*)")
        before, after, aside = ([form.fullmatch(line.rstrip(b"\n")).groups() for line in lines]
                                for lines in (first, out.splitlines(), err.splitlines()))
        self.assertEqual(sorted(line[2:] for line in before), [(b"0", b"first"), (b"1", b"first")])
        self.assertEqual(sorted(line[2:] for line in after), [(b"0", b"second go"), (b"1", b"second go")])
        self.assertEqual(sorted(line[2:] for line in aside), [(b"0", b"aside"), (b"1", b"aside")])
        self.assertLessEqual(max(float(line[1]) for line in before), min(float(line[1]) for line in after))
        refused = poe("true", "-labelio", "yes", "-stdoutmode", "ordered", env=env)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b"expected unordered", refused.stderr)


class Input(LaunchTest):
    def test_to_all(self):
        result = self.ok(poe("cat", "-procs", "3", "-labelio", "yes", input=b"a\nb\n"))
        self.assertEqual(sorted(result.stdout.splitlines()), sorted(b"   %d:%s" % (i, c) for i in range(3) for c in (b"a", b"b")))

    def test_to_none_and_to_one(self):
        result = self.ok(poe("cat", "-procs", "3", "-stdinmode", "none", input=b"a\n"))
        self.assertEqual(result.stdout, b"")
        result = self.ok(poe("cat", "-procs", "3", "-stdinmode", "1", "-labelio", "yes", input=b"a\n"))
        self.assertEqual(result.stdout, b"   1:a\n")

    def test_much_input_from_a_pipe_and_from_a_file(self):
        data = os.urandom(1 << 20) * 20
        digest = subprocess.run(["md5sum"], input=data, capture_output=True).stdout
        self.assertEqual(self.ok(poe("md5sum", "-procs", "2", input=data)).stdout, digest * 2)
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            self.assertEqual(self.ok(poe("md5sum", "-procs", "2", stdin=file)).stdout, digest * 2)

    def test_a_file_of_four_gigabytes(self):
        with tempfile.TemporaryFile() as file:
            file.truncate((4 << 30) + 5)
            result = self.ok(poe("wc", "-c", stdin=file, timeout=200))
            self.assertEqual(int(result.stdout), (4 << 30) + 5)

    def test_a_slow_task_holds_the_flow_but_gets_all(self):
        script = "[ $MP_CHILD = 0 ] && sleep 0.5; md5sum"
        data = os.urandom(1 << 20) * 8
        digest = subprocess.run(["md5sum"], input=data, capture_output=True).stdout
        self.assertEqual(self.ok(poe("sh", "-c", script, "-procs", "3", input=data)).stdout, digest * 3)

    def test_a_task_that_does_not_read_on_does_not_stop_the_others(self):
        data = b"line\n" * 1000000
        script = "if [ $MP_CHILD = 0 ]; then exec <&-; sleep 1; else wc -c; fi"
        self.assertEqual(self.ok(poe("sh", "-c", script, "-procs", "2", input=data)).stdout, b"5000000\n")

    def shell(self, script):
        result = subprocess.run(["bash", "-c", script.replace("POE", POE)], capture_output=True, timeout=60,
                                env=clean_environment(), stdin=subprocess.DEVNULL)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout.split()

    def test_unread_input_is_left_to_others(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"one\ntwo\nthree\n")
            file.flush()
            loop = "while read x; do POE echo $x -procs 2; done"
            expected = [b"one", b"one", b"two", b"two", b"three", b"three"]
            self.assertEqual(self.shell(f"{loop} < {file.name}"), expected)
            self.assertEqual(self.shell(f"cat {file.name} | {loop}"), expected)
            self.assertEqual(self.shell(f"(POE true; cat) < {file.name}"), expected[::2])
            self.assertEqual(self.shell(f"(POE cat -procs 2; cat) < {file.name} | sort | uniq -c")[::2], [b"2"] * 3)

    def test_part_of_a_file_is_left_to_others(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * 3000000)
            file.flush()
            out = self.shell(f"(POE dd bs=1000 count=1 status=none | wc -c; wc -c) < {file.name}")
            self.assertEqual(out, [b"1000", b"2999000"])

    def test_from_a_device_that_never_waits(self):
        for mode, tasks in (("all", 2), ("1", 1)):
            with open("/dev/zero", "rb") as zeros:
                result = self.ok(poe("sh", "-c", "head -c 3000000 | wc -c", "-procs", "2", "-stdinmode", mode, stdin=zeros))
            self.assertEqual(sorted(result.stdout.split()), sorted([b"3000000"] * tasks + [b"0"] * (2 - tasks)))

    def test_from_a_terminal(self):
        leader, follower = pty.openpty()
        job = subprocess.Popen([POE, "sh", "-c", "read a; echo got $a; read b; echo and $b"], stdin=follower, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=clean_environment(), start_new_session=True)
        os.write(leader, b"one\n")
        self.assertEqual(job.stdout.readline(), b"got one\n")
        os.write(leader, b"two\n")
        out, err = job.communicate(timeout=DEADLINE)
        self.assertEqual((out, err, job.returncode), (b"and two\n", b"", 0))
        os.close(leader)
        os.close(follower)

    def test_from_a_terminal_after_a_time_in_the_background(self):
        """A shell does not tell a job that it has not stopped when it brings it to the foreground."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            leader, follower = pty.openpty()
            shell = subprocess.Popen(["bash", "--norc", "-i"], stdin=follower, stdout=follower, stderr=follower, cwd=folder,
                                     env=clean_environment(POE=POE), preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
            os.write(leader, b"$POE sh -c '>ready; cat >got' &\n")
            wait_for(lambda: (folder / "ready").exists(), "the task to run")
            os.write(leader, b">not-for-tasks\n")
            wait_for(lambda: (folder / "not-for-tasks").exists(), "the shell to read its line")
            os.write(leader, b"fg; >over; exit\n")
            job = wait_for(lambda: [p for p in descendants_of(shell.pid) if os.getpgid(p) == p], "the job to be there")[0]
            wait_for(lambda: os.tcgetpgrp(leader) == job, "the job to be in the foreground")
            os.write(leader, b"for tasks\n\x04")
            wait_for(lambda: (folder / "over").exists(), "the job to end")
            self.assertEqual((folder / "got").read_text(), "for tasks\n")
            shell.wait(timeout=DEADLINE)
            os.close(leader)
            os.close(follower)

    def test_the_flags_of_our_descriptors_do_not_change(self):
        reader, writer = os.pipe()
        leader, follower = pty.openpty()
        before = [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in (reader, follower)]
        os.write(writer, b"x\n")
        os.close(writer)
        subprocess.run([POE, "cat"], stdin=reader, stdout=follower, stderr=follower, env=clean_environment(),
                       timeout=DEADLINE, start_new_session=True)
        self.assertEqual([fcntl.fcntl(fd, fcntl.F_GETFL) for fd in (reader, follower)], before)
        for fd in (reader, leader, follower):
            os.close(fd)


if __name__ == "__main__":
    main()
