#!/usr/bin/env python3
"""pdbx where something stands in its way: a kernel that does not permit ptrace, a function that never returns, another
debugger, and a job that another pdbx has left."""

import os
import re
import signal
import subprocess

from debugging import PDBX, PdbxTest
from launching import DEADLINE, POE, children_of, clean_environment, descendants_of, main, processes, start, wait_for

# Executes its arguments in a process tree in which ptrace fails with EPERM, as in a container without CAP_SYS_PTRACE.
NO_PTRACE = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 77;
    execvp(argv[1], argv + 1);
    return 78;
}
"""

ENDLESS = r"""
#include <stdio.h>
#include <unistd.h>
volatile int go;
int forever(void) { for (;;) { } return 1; }
int twice(int n) { return 2 * n; }
int main(void) {
    puts("ready");
    fflush(stdout);
    while (!go) usleep(1000);
    puts("done");
    return 0;
}
"""


# Makes threads all the time, which stay.
THREADS = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *stay(void *unused) { for (;;) pause(); return unused; }
int main(void) {
    for (int round = 0;; ++round) {
        pthread_t thread;
        if (round < 300) pthread_create(&thread, 0, stay, 0);
        if (round % 10 == 0) puts("going on");
        fflush(stdout);
        usleep(2000);
    }
}
"""


class Interactive(PdbxTest):
    def begin(self, *arguments, before=()):
        """A pdbx that reads commands from a pipe, and where to write them."""
        reading, writing = os.pipe()
        pdbx = subprocess.Popen([*before, PDBX, *map(str, arguments)], stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env=clean_environment())
        os.close(reading)
        self.addCleanup(lambda: (pdbx.kill(), pdbx.communicate()) if pdbx.poll() is None else None)
        return pdbx, os.fdopen(writing, "w", buffering=1)

    def read_until(self, pdbx, text):
        lines = []

        def found():
            lines.append(pdbx.stdout.readline())
            return re.search(text, lines[-1]) or not lines[-1]
        wait_for(found, text)
        self.assertRegex("".join(lines), text)
        return "".join(lines)


class Permission(Interactive):
    def no_ptrace(self):
        return self.build("no_ptrace.c", NO_PTRACE, "cc")

    def check(self, said, tasks):
        text = [text for text in said.answers("tasks") if "does not permit gdb to attach" in text]
        self.assertEqual(len(text), 1, said.text)
        self.assertEqual(said.answers("tasks")[text[0]], tasks)
        for way_out in ("SYS_PTRACE", "ptrace_scope"):
            self.assertIn(way_out, text[0])

    def test_a_job_that_pdbx_starts_runs_without_debugger(self):
        go = self.folder / "go"
        script = f"until [ -e {go} ]; do sleep 0.05; done; echo ran $MP_CHILD"
        pdbx, commands = self.begin("sh", "-c", script, self.marker, "-procs", "3", before=[self.no_ptrace()])
        said = self.read_until(pdbx, "0-2: runs without debugger: the kernel does not permit gdb to attach")
        self.assertIn("SYS_PTRACE", said)
        go.touch()
        commands.close()
        out, _ = pdbx.communicate(timeout=DEADLINE)
        self.assertEqual(sorted(line for line in out.splitlines() if line.startswith("ran")), ["ran 0", "ran 1", "ran 2"], out)

    def test_attaching(self):
        job = subprocess.Popen([self.no_ptrace(), POE, self.build("endless.c", ENDLESS, "cc"), self.marker, "-procs", "2"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
        try:
            for _ in range(2):
                wait_for(lambda: job.stdout.readline() == b"ready\n", "the tasks to begin")
            self.check(self.pdbx(["tasks", "quit"], "-a", job.pid), [0, 1])
            self.assertIsNone(job.poll())
            tasks = [state for _, state, command in processes().values() if command.startswith(str(self.folder / "endless"))]
            self.assertEqual(len(tasks), 2)
            self.assertFalse({"T", "t"} & set(tasks), tasks)
        finally:
            job.terminate()
            job.communicate(timeout=DEADLINE)


class Relations(Interactive):
    """If ptrace_scope is 1, a process can be attached by the process that it has named and by descendants of that one. A task
    names its parent (tests/unit/partition_manager/spawn_test.cpp), which must therefore be the parent of gdb."""

    def test_gdb_and_the_tasks_have_one_parent(self):
        program = self.build("endless.c", ENDLESS, "cc")
        pdbx, commands = self.begin(program, self.marker, "-procs", "3")
        self.read_until(pdbx, "main at endless.c")
        below = descendants_of(pdbx.pid)
        command_of = {pid: processes()[pid][2] for pid in below if pid in processes()}
        gdb = [pid for pid, command in command_of.items() if "interpreter=mi3" in command]
        tasks = [pid for pid, command in command_of.items() if command.startswith(str(program))]
        self.assertEqual((len(gdb), len(tasks)), (1, 3), command_of)
        daemon = [pid for pid in below if gdb[0] in children_of(pid)]
        self.assertEqual(len(daemon), 1)
        self.assertLessEqual(set(tasks), set(children_of(daemon[0])))
        commands.write("quit\n")
        commands.close()
        pdbx.communicate(timeout=DEADLINE)


class FunctionsThatNeverReturn(Interactive):
    def test_ctrl_c_ends_the_function(self):
        pdbx, commands = self.begin(self.build("endless.c", ENDLESS, "cc"), self.marker, "-procs", "2")
        self.read_until(pdbx, "main at endless.c")
        commands.write("on 1 print forever()\n")
        task = self.spinning(str(self.folder / "endless"))
        pdbx.send_signal(signal.SIGINT)
        self.read_until(pdbx, "1: interrupted")
        # The tasks are as before: gdb has unwound the function.
        commands.write("print twice(21)\nwhere\nassign go = 1\ncont\n")
        self.read_until(pdbx, "0,1: 42")
        self.read_until(pdbx, r"0,1 \(2\)  main  endless.c:8")
        self.read_until(pdbx, "0,1: ended with code 0")
        commands.close()
        pdbx.communicate(timeout=DEADLINE)
        self.assertNotIn(task, processes())

    def test_one_ctrl_c_ends_the_function_in_each_task(self):
        pdbx, commands = self.begin(self.build("endless.c", ENDLESS, "cc"), self.marker, "-procs", "4")
        self.read_until(pdbx, "main at endless.c")
        commands.write("print forever()\n")
        self.spinning(str(self.folder / "endless"))
        pdbx.send_signal(signal.SIGINT)
        self.read_until(pdbx, "0-3: interrupted")
        commands.write("print twice(21)\nquit\n")
        self.read_until(pdbx, "0-3: 42")
        commands.close()
        pdbx.communicate(timeout=DEADLINE)

    def spinning(self, program):
        """The task that executes the function, found by the processor time that it uses."""
        def found():
            for pid, (_, state, command) in processes().items():
                if command.startswith(program) and self.marker in command and state == "R":
                    return pid
        return wait_for(found, "a task to execute the function")

    def test_the_second_ctrl_c_abandons_a_command(self):
        pdbx, commands = self.begin(self.build("endless.c", ENDLESS, "cc"), self.marker, "-procs", "2")
        self.read_until(pdbx, "main at endless.c")
        self.keep_gdb_busy(commands)
        self.abandon(pdbx)
        commands.write("group list\n")
        self.read_until(pdbx, "stopped")
        commands.close()
        pdbx.communicate(timeout=DEADLINE)
        wait_for(lambda: not [each for each in processes().values() if self.marker in each[2]], "the job to end")


    def keep_gdb_busy(self, commands):
        """gdb executes one command of the first task until the file "over" exists, and ignores SIGINT meanwhile."""
        wait = f"touch {self.folder}/begun; until [ -e {self.folder}/over ]; do sleep 0.05; done"
        commands.write(f"on 0 python import os; os.system('{wait}')\n")
        wait_for((self.folder / "begun").exists, "gdb to execute the command")

    def abandon(self, pdbx):
        for answer in ("Ctrl-C again abandons the command", "abandoned; gdb may still execute it"):
            pdbx.send_signal(signal.SIGINT)
            self.read_until(pdbx, answer)

    def test_ctrl_c_leaves_no_signal_to_a_task_that_is_stopped(self):
        """The signal is for gdb, because it executes nothing in the task. In the task, it would end it after the detachment."""
        pdbx, commands = self.begin(self.build("endless.c", ENDLESS, "cc"), self.marker, "-procs", "2")
        self.read_until(pdbx, "main at endless.c")
        self.keep_gdb_busy(commands)
        pdbx.send_signal(signal.SIGINT)
        self.read_until(pdbx, "Ctrl-C again abandons the command")
        (self.folder / "over").touch()
        commands.write("assign go = 1\ndetach\n")
        self.read_until(pdbx, "done")
        out, _ = pdbx.communicate(timeout=DEADLINE)
        self.assertNotIn("SIGINT", out)
        commands.close()


class Threads(Interactive):
    def test_a_task_stops_while_it_makes_threads(self):
        pdbx, commands = self.begin(self.build("threads.c", THREADS, "cc"), self.marker, "-procs", "2")
        self.read_until(pdbx, "main at threads.c")
        for _ in range(6):
            commands.write("cont &\n")
            self.read_until(pdbx, "going on")
            commands.write("halt\n")
            wait_for(lambda: self.all_stopped(pdbx, commands), "the tasks to stop")
        commands.write("quit\n")
        commands.close()
        pdbx.communicate(timeout=DEADLINE)

    def all_stopped(self, pdbx, commands):
        commands.write("tasks\nhelp quit\n")
        return "running" not in self.read_until(pdbx, "end the job and leave")


class After(Interactive):
    def test_another_pdbx_attaches_to_a_job_that_pdbx_has_left(self):
        """Twice, and the last one lets the job end."""
        first, commands = self.begin(self.build("endless.c", ENDLESS, "cc"), self.marker, "-procs", "3")
        self.read_until(first, "main at endless.c")
        commands.write("cont &\n")
        for _ in range(3):
            self.read_until(first, "ready")
        commands.write("detach\n")
        poe = children_of(first.pid)
        self.assertEqual(len(poe), 1)
        for last in (False, True):
            said = wait_for(lambda: self.attached(poe[0], last), "the first pdbx to detach")
            self.assertEqual(said.answers("print twice(4)"), {"8": [0, 1, 2]}, said.text)
            self.assertIn("main  endless.c", "\n".join(said.lines("where")))
        self.read_until(first, "done")
        commands.close()
        first.communicate(timeout=DEADLINE)
        self.assertEqual(first.returncode, 0)

    def attached(self, poe, last):
        said = self.pdbx(["where", "up", "print twice(4)"] + (["assign go = 1"] if last else []) + ["quit"], "-a", poe)
        return None if "another pdbx debugs this job already" in said.text else said


if __name__ == "__main__":
    main()
