#!/usr/bin/env python3
"""poekill: what it lists, when it asks, and whom it ends. Only jobs of this test are ended: the name "all" is used
where no other job can be seen, or answered by no."""

import os
import pty
import signal
import subprocess
import time

from launching import BUILD, DEADLINE, LaunchTest, clean_environment, main, running, start

POEKILL = str(BUILD / "bin" / "poekill")


class Poekill(LaunchTest):
    def job(self):
        job = start("sh", "-c", f"echo ready; sleep 600; : {self.marker}", "-procs", "2")
        self.assertEqual(job.stdout.readline(), b"ready\n")
        return job

    def name(self, job):
        """The name by which poestat calls it."""
        listed = subprocess.run([str(BUILD / "bin" / "poestat")], capture_output=True, text=True).stdout
        return next(line.split()[0] for line in listed.splitlines() if line.split()[1] == str(job.pid))

    def ask(self, *words, answer):
        """poekill on a terminal."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(POEKILL, [POEKILL, *words], clean_environment())
        seen = b""
        while True:
            try:
                piece = os.read(fd, 65536)
            except OSError:
                break
            if not piece:
                break
            asked = b"[y/N]" in seen
            seen += piece
            if b"[y/N]" in seen and not asked:
                os.write(fd, answer)
        _, status = os.waitpid(pid, 0)
        os.close(fd)
        return os.waitstatus_to_exitcode(status), seen.decode()

    def test_one_job(self):
        job = self.job()
        result = subprocess.run([POEKILL, str(job.pid)], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^job \S+ has been ended\n$")
        job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 128 + signal.SIGTERM)

    def test_a_list_ends_nothing(self):
        job = self.job()
        for words in (["-n"], ["-n", "all"], ["-n", str(job.pid)]):
            result = subprocess.run([POEKILL, *words], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0)
            heading, *lines = result.stdout.splitlines()
            self.assertEqual(heading.split(), ["JOB", "TASKS", "STARTED", "PROGRAM", "DIRECTORY"])
            day = time.strftime("%Y-")
            self.assertTrue(any(line.startswith(self.name(job)) and " sh" in line and line.endswith(os.getcwd()) and
                                f" {day}" in line for line in lines), lines)
        self.assertTrue(running(self.marker))
        subprocess.run([POEKILL, str(job.pid)], capture_output=True, check=True)
        job.communicate(timeout=DEADLINE)

    def test_a_person_is_asked_before_all_are_ended(self):
        job = self.job()
        status, seen = self.ask("all", answer=b"n\n")
        self.assertEqual(status, 1)
        self.assertIn("PROGRAM", seen)
        self.assertIn(self.name(job), seen)
        self.assertRegex(seen, r"End (this job|these \d+ jobs)\? \[y/N\]")
        self.assertIn("nothing was ended", seen)
        self.assertTrue(running(self.marker))
        # One job that is named is no surprise.
        status, seen = self.ask(str(job.pid), answer=b"n\n")
        self.assertEqual((status, "[y/N]" in seen), (0, False))
        job.communicate(timeout=DEADLINE)

    def test_no_such_job(self):
        self.assertEqual(subprocess.run([POEKILL, "nonsense"], capture_output=True).returncode, 2)
        self.assertEqual(subprocess.run([POEKILL], capture_output=True).returncode, 2)


if __name__ == "__main__":
    main()
