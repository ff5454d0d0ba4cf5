#!/usr/bin/env python3
"""mpc_flush and mpc_stdout_mode in whole jobs: whose lines come when."""

import os
import subprocess

from launching import BUILD, LaunchTest, clean_environment, main, poe, start

PROGRAM = str(BUILD / "bin" / "mpl_flush")
SIZES = (1, 2, 8)


def said(step, tasks):
    return [f"task {task} step {step}" for task in tasks]


def much(step, tasks):
    return [f"task {task} step {step} line {i:<20}" for task in tasks for i in range(5000)]


class Flush(LaunchTest):
    def lines(self, tasks, *words, flags=(), **options):
        result = self.ok(poe(PROGRAM, *words, "-procs", str(tasks), *flags, **options))
        return result.stdout.decode().split("\n")[:-1]

    def blocks(self, lines, *sizes):
        """The lines in pieces of these sizes, each sorted."""
        pieces = []
        for size in sizes:
            pieces.append(sorted(lines[:size]))
            lines = lines[size:]
        self.assertEqual(lines, [])
        return pieces

    def test_ordered_output_comes_at_each_flush(self):
        for n in SIZES:
            tasks = range(n)
            lines = self.lines(n, "say", "flush", "say", "say", "flush", "flush", "say", flags=("-stdoutmode", "ordered"))
            third = [line for task in tasks for line in (f"task {task} step 3", f"task {task} step 4")]
            self.assertEqual(lines, said(1, tasks) + third + said(7, tasks))

    def test_unordered_output_is_there_before_what_follows(self):
        for n in SIZES:
            lines = self.lines(n, "say", "flush", "say", "flush", "much", "flush", "say")
            one, two, three, four = self.blocks(lines, n, n, 5000 * n, n)
            self.assertEqual([one, two, three, four],
                             [said(1, range(n)), said(3, range(n)), sorted(much(5, range(n))), said(7, range(n))])

    def test_much_ordered_output(self):
        for n in (2, 8):
            lines = self.lines(n, *["much", "flush"] * 4, flags=("-stdoutmode", "ordered"))
            self.assertEqual(lines, [line for step in (1, 3, 5, 7) for line in much(step, range(n))])

    def test_modes_change_after_what_was_written(self):
        for n in SIZES:
            tasks = range(n)
            lines = self.lines(n, "say", "ordered", "say", "flush", "say", "zero", "say", "last", "say", "unordered", "say")
            first, middle, last = sorted(lines[:n]), lines[n:-n], sorted(lines[-n:])
            self.assertEqual(first, said(1, tasks))
            self.assertEqual(middle, said(3, tasks) + said(5, tasks) + said(7, [0]) + said(9, [n - 1]))
            self.assertEqual(last, said(11, tasks))

    def test_from_one_task_to_all(self):
        lines = self.lines(3, "say", "ordered", "say", flags=("-stdoutmode", "1"))
        self.assertEqual(lines, said(1, [1]) + said(3, range(3)))

    def test_different_modes_are_refused(self):
        for n in (2, 8):
            result = self.ok(poe(PROGRAM, "say", "differ", "say", "-procs", str(n), "-stdoutmode", "ordered"))
            lines = result.stdout.decode().splitlines()
            self.assertEqual(lines, said(1, range(n)) + said(3, range(n)))
            self.assertEqual(result.stderr.count(b"0032-117"), n)

    def test_a_task_that_ends_holds_nobody_up(self):
        for n in (2, 8):
            lines = self.lines(n, "much", "leave", "flush", "say", "flush", "say", flags=("-stdoutmode", "ordered"))
            self.assertEqual(lines, much(1, range(n)) + said(4, range(n - 1)) + said(6, range(n - 1)))

    def test_a_task_without_output_flushes_too(self):
        lines = self.lines(4, "say", "close", "flush", "say", "flush", "say", flags=("-stdoutmode", "ordered"))
        self.assertEqual(lines, said(1, range(4)) + said(4, range(3)) + said(6, range(3)))

    def test_incomplete_lines_come_out(self):
        lines = self.lines(3, "half", "flush", "say", "flush", flags=("-stdoutmode", "ordered", "-labelio", "yes"))
        self.assertEqual(lines, ["   0:half 0;", "   1:half 1;", "   2:half 2;", "   0:task 0 step 3", "   1:task 1 step 3",
                                 "   2:task 2 step 3"])

    def test_messages_move_on_in_a_flush(self):
        for n in (2, 8):
            lines = self.lines(n, "say", "busy", "say", flags=("-stdoutmode", "ordered"))
            self.assertEqual(lines, said(1, range(n)) + said(3, range(n)))

    def test_standard_error_can_be_put_in_order(self):
        result = poe(PROGRAM, "say", "flush", "syserr", "-procs", "4", "-stdoutmode", "ordered", stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0)
        lines = result.stdout.decode().splitlines()
        self.assertEqual(lines[:4], said(1, range(4)))
        self.assertEqual(sorted(lines[4:]), [f"error {task}" for task in range(4)])

    def test_a_killed_job_ends_although_tasks_wait(self):
        # Task 2 never flushes; the others wait for it until it fails.
        script = f'if [ "$MP_CHILD" = 2 ]; then read line; exit 9; fi; exec {PROGRAM} say flush say'
        job = start("sh", "-c", script, "-procs", "3", "-stdinmode", "2", stdin=subprocess.PIPE)
        out, _ = job.communicate(b"go\n", timeout=60)
        self.assertEqual(job.returncode, 9)
        self.assertEqual(sorted(out.decode().splitlines()), sorted(said(1, [0, 1]) + said(3, [0, 1])))

    def test_a_slow_reader_gets_all(self):
        job = start(PROGRAM, *["much", "flush"] * 12, "-procs", "3", "-stdoutmode", "ordered")
        out = b""
        while True:
            piece = os.read(job.stdout.fileno(), 3000)
            if not piece:
                break
            out += piece
        self.assertEqual(job.wait(60), 0)
        job.stdout.close()
        job.stderr.close()
        expected = [line for step in range(1, 24, 2) for line in much(step, range(3))]
        self.assertEqual(out.decode().splitlines(), expected)

    def test_fortran_units_are_flushed(self):
        for program in ("mpl_module", "mpl_external"):
            for n in (1, 4):
                lines = self.ok(poe(str(BUILD / "bin" / program), "-procs", str(n))).stdout.decode().splitlines()
                self.assertEqual(sorted(lines[:n]), [f"first of task {task}" for task in range(n)])
                self.assertEqual(lines[n:], [f"{what} of task {task}" for what in ("second", "last") for task in range(n)])
            result = self.ok(poe(str(BUILD / "bin" / program), "stop", "-procs", "4"), 5)
            self.assertIn(b"last of task 0\n", result.stdout)

    def test_alone(self):
        result = subprocess.run([PROGRAM, "say", "flush", "ordered", "say"], capture_output=True, env=clean_environment(),
                                timeout=60)
        self.assertEqual(result.stdout.decode().splitlines(), said(1, [0]) + said(4, [0]))


if __name__ == "__main__":
    main()
