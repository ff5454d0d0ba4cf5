#!/usr/bin/env python3
"""Where tasks run and how they reach each other's memory: binding to processors, single copy."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from launching import BUILD, LaunchTest, clean_environment, main, poe, start


def processors(text):
    """The numbers in a list like 0-3,8."""
    numbers = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


class Binding(LaunchTest):
    def shares(self, tasks, *flags):
        result = self.ok(poe("sed", "-n", "s/^Cpus_allowed_list:.//p", "/proc/self/status", "-procs", str(tasks),
                             "-stdoutmode", "ordered", *flags))
        shares = [processors(line) for line in result.stdout.decode().split()]
        self.assertEqual(len(shares), tasks)
        return shares

    def setUp(self):
        super().setUp()
        self.usable = os.sched_getaffinity(0)

    def test_tasks_get_equal_disjoint_shares(self):
        for tasks in range(2, min(len(self.usable), 9) + 1):
            shares = self.shares(tasks)
            self.assertEqual(set().union(*shares), self.usable)
            self.assertEqual(sum(map(len, shares)), len(self.usable), shares)
            self.assertTrue(all(shares))

    def test_more_tasks_than_processors_are_not_bound(self):
        self.assertEqual(self.shares(len(self.usable) + 1), [self.usable] * (len(self.usable) + 1))

    def test_a_single_task_may_use_all(self):
        self.assertEqual(self.shares(1), [self.usable])

    def test_no_means_no(self):
        self.assertEqual(self.shares(2, "-bind", "no"), [self.usable] * 2)

    def test_threads(self):
        cores = sorted(self.usable)
        tasks = max(len(cores) // 2, 1)
        threads = len(cores) // tasks
        shares = self.shares(tasks, "-threads", str(threads))
        self.assertTrue(all(len(share) >= threads for share in shares), shares)
        self.assertEqual(sum(map(len, shares)), len(set().union(*shares)), shares)
        show = ["sh", "-c", "echo $OMP_NUM_THREADS $OMP_PLACES $OMP_PROC_BIND", "-procs", str(tasks)]
        self.assertEqual(self.ok(poe(*show, "-threads", str(threads))).stdout, b"%d cores close\n" % threads * tasks)
        self.assertEqual(self.ok(poe(*show)).stdout, b"\n" * tasks)
        # What the user has set counts.
        env = clean_environment(OMP_NUM_THREADS="7", OMP_PROC_BIND="spread")
        self.assertEqual(self.ok(poe(*show, "-threads", str(threads), env=env)).stdout, b"7 cores spread\n" * tasks)

    def test_too_many_threads_are_told_and_not_bound(self):
        count = len(self.usable) + 1
        result = self.ok(poe("sh", "-c", "echo $OMP_NUM_THREADS $OMP_PLACES", "-procs", "2", "-threads", str(count)))
        self.assertEqual(result.stdout, b"%d\n" % count * 2)
        self.assertRegex(result.stderr.decode(), rf"ATTENTION.*tasks of node \S+ are not bound: 2 tasks with {count} threads "
                                                 rf"each need {2 * count} processors, and fewer are free")
        self.assertEqual(self.shares(2, "-threads", str(count)), [self.usable] * 2)
        quiet = self.ok(poe("true", "-procs", "2", "-threads", str(count), "-bind", "no"))
        self.assertEqual(quiet.stderr, b"")

    def test_two_jobs_at_once_share_nothing_while_cores_are_free(self):
        if len(self.usable) < 4:
            # Of two processors the first job takes both; the second is left to the kernel.
            first = start("sh", "-c", "echo; read x", "-procs", str(len(self.usable)), stdin=subprocess.PIPE)
            for _ in self.usable:
                first.stdout.readline()
            self.assertEqual(self.shares(2), [self.usable] * 2)
            first.communicate()
            return
        half = sorted(self.usable)[:len(self.usable) // 2]
        os.sched_setaffinity(0, half)
        try:
            first = start("sh", "-c", "echo; read x", "-procs", "2", stdin=subprocess.PIPE)
            for _ in range(2):
                first.stdout.readline()
        finally:
            os.sched_setaffinity(0, self.usable)
        self.assertFalse(set().union(*self.shares(2)) & set(half))
        first.communicate()

    def test_the_report_of_the_binding(self):
        count = len(self.usable)
        result = self.ok(poe("true", "-procs", str(count), "-report_binding", "yes"))
        said = [re.fullmatch(r"task (\d+) \(node \S+\) may use processors? (\S+)", line)
                for line in result.stderr.decode().splitlines()]
        if count > 1:
            self.assertEqual([int(line[1]) for line in said], list(range(count)))
            self.assertEqual(set().union(*(processors(line[2]) for line in said)), self.usable)
        with tempfile.NamedTemporaryFile() as file:
            self.ok(poe("true", "-procs", "2", "-bind", "no", "-report", file.name))
            tasks = json.load(file)["tasks"]
        self.assertEqual([processors(task["processors"]) for task in tasks], [self.usable] * 2)
        result = self.ok(poe("true", "-procs", "2", "-bind", "no", "-report_binding", "yes"))
        self.assertRegex(result.stderr, rb"^tasks 0,1 \(node \S+\) may use processors? ")

    def test_only_the_processors_that_poe_may_use(self):
        one = min(self.usable)
        os.sched_setaffinity(0, {one})
        try:
            self.assertEqual(self.shares(1), [{one}])
            self.assertEqual(self.shares(2), [{one}] * 2)
        finally:
            os.sched_setaffinity(0, self.usable)


class Spreading(LaunchTest):
    """More tasks than processors: those that wait for each other spread themselves (comm/progress/core_balancer.hpp)."""

    # All begin on one processor. What moves itself calls sched_setaffinity, which is counted here.
    PROGRAM = """
#define _GNU_SOURCE
#include <mpproto.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int moves;
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set) {
    ++moves;
    return (int)syscall(SYS_sched_setaffinity, pid, size, set);
}
int main(int count, char **words) {
    int tasks, me, total = 0, round, i, rounds = atoi(words[count - 1]);
    cpu_set_t all, one, after;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (i = 0; !CPU_ISSET(i, &all); ++i) {}
    CPU_SET(i, &one);
    mpc_environ(&tasks, &me);
    for (round = 0; round < rounds && total == 0; ++round) {
        syscall(SYS_sched_setaffinity, 0, sizeof one, &one);
        mpc_sync(ALLGRP);
        syscall(SYS_sched_setaffinity, 0, sizeof all, &all);
        for (i = 0; i < 2000; ++i) mpc_sync(ALLGRP);
        mpc_combine(&moves, &total, sizeof total, i_vadd, ALLGRP);
    }
    sched_getaffinity(0, sizeof after, &after);
    if (!CPU_EQUAL(&all, &after)) return 2;
    if (me == 0) puts(total > 0 ? "moved" : "stayed");
    return 0;
}
"""

    def setUp(self):
        super().setUp()
        usable = os.sched_getaffinity(0)
        if len(usable) < 2:
            self.skipTest("one processor")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        source = pathlib.Path(directory.name, "spread.c")
        source.write_text(self.PROGRAM)
        self.program = str(pathlib.Path(directory.name, "spread"))
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(source), "-o", self.program], check=True)
        os.sched_setaffinity(0, sorted(usable)[:2])
        self.addCleanup(os.sched_setaffinity, 0, usable)

    def said(self, rounds, *flags):
        return self.ok(poe(self.program, str(rounds), "-procs", "6", *flags)).stdout

    def test_tasks_leave_a_processor_that_has_more_than_another(self):
        self.assertEqual(self.said(1000), b"moved\n")

    def test_none_moves_itself_if_poe_is_not_to_place_them(self):
        self.assertEqual(self.said(10, "-bind", "no"), b"stayed\n")


class SingleCopy(LaunchTest):
    def test_a_megabyte_arrives_either_way(self):
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory, "long.c")
            source.write_text("""
#include <mpproto.h>
#include <stdio.h>
static unsigned char bytes[1 << 20];
int main(void) {
    int tasks, me, type = 1, source, got = 0;
    size_t i;
    mpc_environ(&tasks, &me);
    if (me == 0)
        for (i = 0; i < sizeof bytes; ++i) bytes[i] = (unsigned char)(i * 7 + i / 251);
    source = (me + tasks - 1) % tasks;
    if (me != 0 && mpc_brecv(bytes, sizeof bytes, &source, &type, &got) != 0) return 2;
    if (mpc_bsend(bytes, sizeof bytes, (me + 1) % tasks, 1) != 0) return 3;
    if (me == 0 && mpc_brecv(bytes, sizeof bytes, &source, &type, &got) != 0) return 2;
    if (got != sizeof bytes) return 4;
    for (i = 0; i < sizeof bytes; ++i)
        if (bytes[i] != (unsigned char)(i * 7 + i / 251)) return 5;
    puts("right");
    return 0;
}
""")
            program = str(pathlib.Path(directory, "long"))
            subprocess.run([str(BUILD / "bin" / "mpcc"), str(source), "-o", program], check=True)
            for setting in ("yes", "no"):
                result = self.ok(poe(program, "-procs", "3", "-single_copy", setting))
                self.assertEqual(result.stdout, b"right\n" * 3)


if __name__ == "__main__":
    main()
