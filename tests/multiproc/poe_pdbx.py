#!/usr/bin/env python3
"""pdbx: whole debugging sessions in batch mode, whose answers are JSON. The programs have mistakes that are known, and
are those of examples/bugs."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from debugging import BUGS, PDBX, PdbxTest, Session
from launching import (DEADLINE, POE, SOURCE, children_of, clean_environment, descendants_of, main, processes, running, start,
                       wait_for)

class OnFail(PdbxTest):
    def poe(self, *arguments, **options):
        return subprocess.run([POE, *map(str, arguments), "-onfail", "pdbx"], capture_output=True, text=True,
                              timeout=DEADLINE, env=clean_environment(), **options)

    def test_a_job_without_failure_looks_as_without_debugger(self):
        script = 'read line; echo "$MP_CHILD $line"; echo aside >&2'
        result = self.poe("sh", "-c", script, "-procs", 2, "-stdoutmode", "ordered", input="typed\n")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "0 typed\n1 typed\n", "aside\n" * 2))

    def test_a_crash_shows_the_stacks_of_all_tasks_and_ends_as_usual(self):
        result = self.poe(BUGS / "crash", self.marker, "-procs", 4, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 128 + signal.SIGSEGV, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^[-,1-3]+: SIGSEGV \(Segmentation fault\)")
        self.assertRegex(result.stdout, r"(?m)^ +add_up +crash.cpp:\d+$")
        self.assertIn("ERROR: 0031-250", result.stderr)
        self.assertEqual(running(self.marker), [])

    def test_an_exit_code_is_a_failure(self):
        result = self.poe("sh", "-c", "test $MP_CHILD != 1 || exit 1; exec sleep 300", "-procs", 3, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^1: exits with a code other than 0$")
        self.assertIn("task 1 (node", result.stderr)


class Bugs(PdbxTest):
    def test_wrong_index(self):
        for tasks in (1, 4, 16):
            with self.subTest(tasks=tasks):
                said = self.pdbx(["break MPI_Reduce", "cont", "up", "print last", "values last", "delete", "cont"],
                                 BUGS / "wrong_index", "-procs", str(tasks))
                all_tasks = list(range(tasks))
                self.assertEqual(said.stops()[0][0], all_tasks, said.text)
                self.assertIn("main at wrong_index.c", said.stops()[0][1])
                share = 10 // tasks
                expected = {}
                for task in all_tasks:
                    expected.setdefault(str(task * share + share), []).append(task)
                self.assertEqual(said.answers("print last"), expected, said.text)
                self.assertIn(f"max   {share * tasks}", said.lines("values last")[1])
                self.assertTrue(any(line.startswith("the sum is") for line in said.output()), said.text)
                self.assertEqual(said.status, 0, said.text)

    def test_nan_in_fortran(self):
        said = self.pdbx(["break nan.f90:19", "cont", "values part", "on 2 print table"], BUGS / "nan", "-procs", "4")
        self.assertIn("at nan.f90", said.stops()[0][1], said.text)
        self.assertIn("NaN or infinite: task 2", said.lines("values part"), said.text)
        self.assertIn("-21", "".join(said.answers("on 2 print table")), said.text)

    def test_crash_in_a_collective(self):
        said = self.pdbx(["cont", "group list", "on failed where", "on failed up", "on failed info symbol result"], BUGS / "crash", "-procs", "4")
        crashed = sorted(task for tasks, text in said.stops() if "SIGSEGV" in text for task in tasks)
        self.assertEqual(crashed, [1, 2, 3], said.text)
        self.assertTrue(any(line.split() == ["failed", "1-3"] for line in said.lines("group list")), said.text)
        stack = "\n".join(said.lines("on failed where"))
        self.assertIn("add_up(", stack.replace("add_up  ", "add_up("), said.text)
        self.assertIn("MPI_Allreduce", stack, said.text)
        self.assertIn("add_up crash.cpp", "".join(said.answers("on failed up")), said.text)
        self.assertIn("kNothing in section .rodata", "".join(said.answers("on failed info symbol result")), said.text)

    def test_deadlock(self):
        said = self.pdbx(["catch deadlock", "cont", "where", "why", "up", "on mpc_brecv print me"], BUGS / "deadlock", "-procs", "4",
                         "-deadlock_timeout", "2")
        found = [report for report in said.reports if report["kind"] == "deadlock"]
        self.assertEqual(len(found), 1, said.text)
        self.assertIn("tasks 0-3 wait for each other", found[0]["lines"][0])
        stack = "\n".join(said.lines("where"))
        self.assertIn("from_left  deadlock.c:", stack, said.text)
        self.assertIn("mpc_brecv", stack, said.text)
        waits = said.answers("why")
        self.assertEqual(sorted(task for tasks in waits.values() for task in tasks), [0, 1, 2, 3], said.text)
        self.assertTrue(all("mpc_brecv for type 7 from task" in text for text in waits), said.text)
        self.assertIn("tasks 0-3 wait for each other", "\n".join(said.lines("why")), said.text)
        self.assertEqual(list(said.answers("on mpc_brecv print me").values()), [[0], [1], [2], [3]], said.text)


class Commands(PdbxTest):
    def test_groups_move_apart(self):
        said = self.pdbx(["group add low 0:1", "break range_of", "cont", "on low next", "tasks", "on low", "next", "print me",
                          "on all print task", "group delete low", "group list", "on low", "on 9"],
                         BUGS / "wrong_index", "-procs", "4")
        places = said.answers("tasks")
        self.assertEqual(sorted(places.values()), [[0, 1], [2, 3]], said.text)
        self.assertEqual(said.answers("on all print task"), {"0": [0], "1": [1], "2": [2], "3": [3]}, said.text)
        self.assertNotIn("low", " ".join(said.lines("group list")))
        self.assertIn('there is no group "low"', said.of("on low")[-1]["error"])
        self.assertIn("the job has no task 9", said.of("on 9")[0]["error"])
        self.assertEqual(said.status, 1)

    def test_breakpoints_have_tasks_and_conditions(self):
        source = (SOURCE / "examples/bugs/wrong_index.c").read_text().splitlines()
        line = 1 + next(number for number, text in enumerate(source) if "block[i - first] = i" in text)
        said = self.pdbx(["on 1,2 break range_of", f"break wrong_index.c:{line} if $task == 3 && i == first", "breakpoints",
                          "cont", "delete 1", "on stopped cont"], BUGS / "wrong_index", "-procs", "4")
        self.assertEqual([stop[0] for stop in said.stops()[1:]], [[1, 2], [3]], said.text)
        self.assertEqual(len(said.lines("breakpoints")), 2, said.text)
        self.assertIn("the sum is 36, and should be 55", said.output())

    def test_watch_finish_and_assign(self):
        said = self.pdbx(["break main", "break range_of", "cont", "finish", "watch sum", "on 0 cont", "delete",
                          "assign sum = 100", "on 0 print sum", "print nothing", "p/x 255", "print $task"],
                         BUGS / "wrong_index", "-procs", "2")
        self.assertTrue(any("sum: 0 -> 1" in text for _, text in said.stops()), said.text)
        self.assertEqual(said.answers("on 0 print sum"), {"100": [0]}, said.text)
        self.assertEqual(list(said.answers("print nothing")), ['No symbol "nothing" in current context.'])
        self.assertEqual(said.answers("p/x 255"), {"0xff": [0, 1]})
        self.assertEqual(said.answers("print $task"), {"0": [0], "1": [1]})

    def test_a_breakpoint_that_cannot_be_set_takes_no_number(self):
        said = self.pdbx(["break wrong_index.c:9999", "watch no_such_variable", "trace MPI_Reduce", "break main", "cont"],
                         BUGS / "wrong_index", "-procs", "2")
        errors = [answer["text"] for report in said.reports if report["kind"] == "error" for answer in report["answers"]]
        self.assertRegex(errors[0], "No (line|compiled code for line) 9999")
        self.assertIn("no_such_variable", errors[1])
        self.assertIn("tracepoint 1: ", said.lines("trace MPI_Reduce")[0])
        self.assertIn("tracepoint 1, ", " ".join(text for _, text in said.stops()))
        self.assertIn("breakpoint 2: ", said.lines("break main")[0])

    def test_threads_are_those_of_the_task(self):
        said = self.pdbx(["break MPI_Reduce", "cont", "info threads", "i b", "thread 1", "thread 9"],
                         BUGS / "wrong_index", "-procs", "3")
        answers = said.answers("info threads")
        self.assertEqual(list(answers.values()), [[0, 1, 2]], said.text)
        self.assertRegex(list(answers)[0], r"^\* 1  P?MPI_Reduce in libmpi_abi.so.1 \(wrong_index\)")
        self.assertIn("1  MPI_Reduce", said.lines("i b")[0])
        self.assertEqual(said.answers("thread 1"), {"thread 1": [0, 1, 2]})
        self.assertEqual(said.answers("thread 9"), {"there is no thread 9": [0, 1, 2]})

    def test_the_screen_needs_a_terminal(self):
        for flags, words in ((["-screen"], "-screen needs a terminal"), (["-screen", "-batch", "-x", "/dev/null"], "leave out one of them")):
            result = subprocess.run([PDBX, *flags, "sleep", "300"], capture_output=True, text=True, timeout=DEADLINE,
                                    stdin=subprocess.DEVNULL, env=clean_environment())
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)

    def test_commands_from_a_directory(self):
        result = subprocess.run([PDBX, "-batch", "-x", self.folder, "sleep", "300"], capture_output=True, text=True,
                                timeout=DEADLINE, stdin=subprocess.DEVNULL, env=clean_environment())
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"cannot read the commands in {self.folder}", result.stderr)

    def test_printers_of_the_standard_library(self):
        said = self.pdbx(["break add_up", "cont", "print counts", "up", "print words"], BUGS / "crash", "-procs", "2")
        self.assertEqual(list(said.answers("print counts")), ["std::vector of length 6, capacity 6 = {0, 0, 0, 1, 1, 2}"], said.text)
        self.assertIn('"three"', list(said.answers("print words"))[0])

    def test_64_tasks(self):
        said = self.pdbx(["tasks", "where"], BUGS / "deadlock", "-procs", "64")
        self.assertEqual(list(said.answers("tasks").values()), [list(range(64))], said.text)
        self.assertEqual(len(said.lines("where")), 1, said.text)
        self.assertTrue(said.lines("where")[0].startswith("0-63 (64)  main"), said.text)

    def test_environment_and_directory_are_unchanged(self):
        program = ["sh", "-c", "pwd; env | grep -v -e ^MP_ -e PMI | sort"]
        options = {"capture_output": True, "text": True, "cwd": self.folder, "stdin": subprocess.DEVNULL,
                   "env": clean_environment(PWD=str(self.folder), MP_PROCS=1, MP_UNBUFFERED="no")}
        plain = subprocess.run([POE, *program], **options)
        said = Session(subprocess.run(self.command(["cont"], *program), **options))
        without_job = lambda text: re.sub(r"poe-\d+-[0-9a-z-]+", "JOB", text)
        self.assertEqual(without_job("\n".join(said.output())), without_job(plain.stdout.rstrip("\n")), said.text)


    def test_until_over_a_collective_call(self):
        source = (SOURCE / "examples/bugs/wrong_index.c").read_text().splitlines()
        after = 1 + next(number for number, text in enumerate(source) if "MPI_Finalize" in text)
        said = self.pdbx(["break range_of", "cont", "delete", f"until wrong_index.c:{after}", "on all where", f"tbreak {after}",
                          "define x", "set non-stop off"], BUGS / "wrong_index", "-procs", "3")
        self.assertEqual(said.stops()[-1][0], [0, 1, 2], said.text)
        for command, reason in ((f"tbreak {after}", "numbers of its own"), ("define x", "more lines"), ("set non-stop off", "depends")):
            self.assertIn(reason, said.of(command)[0]["error"])

    def test_a_termination_signal_at_any_moment(self):
        for delay in (0, 0.05, 0.1, 0.2, 0.4, 0.8):  # the moment is what is tested
            debugger = subprocess.Popen(self.command(["cont"], "sleep", "300", "-procs", "3"), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=clean_environment())
            time.sleep(delay)
            debugger.terminate()
            out, err = debugger.communicate(timeout=DEADLINE)
            self.assertIn(debugger.returncode, (0, 1, -signal.SIGTERM), (delay, out, err))
            wait_for(lambda: not children_of(debugger.pid), "the job to end")

    def test_without_gdb_time_limits_hold(self):
        with tempfile.TemporaryDirectory() as path:
            os.symlink(shutil.which("sleep"), os.path.join(path, "sleep"))
            said = self.pdbx(["cont"], shutil.which("sleep"), "300", "-procs", "2", "-maxtime", "2",
                             env=clean_environment(PATH=path))
        self.assertIn("gdb is not installed on this node", said.text)

    def test_a_signal_stops_its_tasks_only_if_it_is_caught(self):
        # gdb hands SIGURG on without a stop, and tasks ignore it. Only task 1 sends itself one.
        program = self.build("signals.c", """
            #include <signal.h>
            #include <stdlib.h>
            #include <string.h>
            int main(void) {
                if (strcmp(getenv("MP_CHILD"), "1") == 0) raise(SIGURG);
                return 0;
            }
        """, "cc")
        said = self.pdbx(["catch signal SIGURG", "cont", "tasks", "delete", "cont"], program, "-procs", "2")
        self.assertEqual([tasks for tasks, _ in said.stops()], [[0, 1], [1]], said.text)  # the first is in main
        self.assertIn("kill", said.stops()[1][1], said.text)
        self.assertEqual(said.status, 0, said.text)
        self.assertEqual(len(self.pdbx(["cont"], program, "-procs", "2").stops()), 1)

    def test_a_reader_that_goes_away_ends_the_job(self):
        debugger = subprocess.Popen(self.command(["print 1", "cont"], "sleep", "300", "-procs", "2"), stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=clean_environment())
        debugger.stdout.readline()
        debugger.stdout.close()
        self.assertEqual(debugger.wait(DEADLINE), 128 + signal.SIGPIPE)
        self.assertEqual(debugger.stderr.read(), b"")
        debugger.stderr.close()


FAULTY = r"""
#include <stdio.h>
#include <stdlib.h>
static double sum(const double *v, int n) { double s = 0; for (int i = 0; i < n; i++) s += v[i]; return s; }
int main(int argc, char **argv) {
    int task = argc + atoi(argv[1]);
    return sum(task == 4 ? 0 : (double *)8, task) > 0;
}
"""


class CoreFiles(PdbxTest):
    def setUp(self):
        super().setUp()
        source = self.folder / "faulty.c"
        source.write_text(FAULTY)
        self.program = str(self.folder / "faulty program")
        subprocess.run(["cc", "-g", "-O0", source, "-o", self.program], check=True)
        for task in (0, 2, 7):
            place = self.folder / f"coredir.{task}" / "core"
            place.parent.mkdir()
            subprocess.run(["gdb", "-nx", "-batch", "-ex", f"run {task}", "-ex", f"generate-core-file {place}", self.program],
                           check=True, capture_output=True, stdin=subprocess.DEVNULL)

    def test_all_tasks(self):
        said = self.pdbx(["where", "print n", "on 2 print v", "values n", "tasks"], "-core", self.folder)
        self.assertEqual([(tasks, text.split(",")[0]) for tasks, text in said.stops()], [([0, 2, 7], "SIGSEGV (Segmentation fault)")])
        self.assertEqual(said.lines("where"), ["0,2,7 (3)  main  faulty.c:7", "             sum  faulty.c:4"])
        self.assertEqual(said.answers("print n"), {"2": [0], "4": [2], "9": [7]})
        self.assertEqual(said.answers("on 2 print v"), {"(const double *) 0x0": [2]})
        self.assertIn("not debugged", said.text)
        self.assertEqual((said.status, said.err), (0, ""))

    def test_what_needs_a_running_job(self):
        for command in ("cont", "next", "break main", "watch n", "why", "messages", "halt"):
            said = self.pdbx([command], "-core", self.folder / "coredir.2")
            self.assertIn("needs a running job; these are core files", said.text, command)
            self.assertEqual(said.status, 1)

    def test_damaged_files(self):
        place = self.folder / "coredir.2" / "core"
        place.write_bytes(place.read_bytes()[:9000])
        said = self.pdbx(["print n"], "-core", self.folder, self.program)
        self.assertEqual(said.answers("print n"), {"2": [0], "9": [7]}, said.text)
        place.write_bytes(b"nothing")
        said = self.pdbx(["print n"], "-core", self.folder)
        self.assertIn("coredir.2/core does not tell its program; name it", said.err)

    def test_directories_without_core_files(self):
        for path, words in ((self.folder / "nothing", "No such file or directory"), ("/proc/self/fdinfo", "there is no core file")):
            said = self.pdbx(["where"], "-core", path)
            self.assertEqual(said.status, 1)
            self.assertIn(words, said.err)


class Running(PdbxTest):
    """Jobs that run when pdbx comes."""

    def start(self, *arguments, go="go"):
        """A job whose tasks wait until a file exists, then print."""
        self.go = self.folder / go
        job = start("sh", "-c", f'echo here; until [ -e {self.go} ]; do sleep 0.05; done; echo task $MP_CHILD continues',
                    self.marker, "-procs", "4", "-stdoutmode", "ordered", *arguments)
        self.addCleanup(lambda: (job.kill(), job.communicate()) if job.poll() is None else None)
        wait_for(lambda: len(self.shells()) == 4, "four tasks")
        return job

    def shells(self):
        return [pid for pid, (_, _, command) in processes().items() if command.startswith("sh -c echo here") and self.marker in command]

    def states(self):
        return {state for pid, (_, state, _) in processes().items() if pid in self.shells()}

    def ends_well(self, job):
        self.go.touch()
        out, err = job.communicate(timeout=DEADLINE)
        self.assertEqual(job.returncode, 0, err)
        self.assertEqual(out.decode().count("continues"), 4, out)

    def test_attach_and_quit(self):
        job = self.start()
        said = self.pdbx(["tasks", "where", "quit"], "-a", str(job.pid))
        self.assertEqual(sorted(task for tasks in said.answers("tasks").values() for task in tasks), [0, 1, 2, 3], said.text)
        self.assertTrue(all(text.startswith("stopped") for text in said.answers("tasks")), said.text)
        self.assertEqual(said.status, 0)
        # A second time, with a breakpoint that is never reached.
        said = self.pdbx(["break abort", "cont &", "quit"], "-a", str(job.pid))
        self.assertEqual(said.status, 0, said.text + said.err)
        self.ends_well(job)

    def test_killed_pdbx_leaves_no_task_stopped(self):
        job = self.start()
        script = self.folder / "commands"
        script.write_text("tasks\n")
        reading, writing = os.pipe()
        pdbx = subprocess.Popen([PDBX, "-x", str(script), "-a", str(job.pid)], stdin=reading, stdout=subprocess.PIPE, text=True,
                                env=clean_environment())
        wait_for(lambda: "stopped" in pdbx.stdout.readline(), "the tasks to stop")
        pdbx.kill()
        pdbx.communicate()
        os.close(reading), os.close(writing)
        wait_for(lambda: not self.states() & {"t", "T"}, "tasks to continue")
        self.ends_well(job)

    def test_two_at_once(self):
        job = self.start()
        reading, writing = os.pipe()
        first = subprocess.Popen([PDBX, "-a", str(job.pid)], stdin=reading, stdout=subprocess.PIPE, text=True, env=clean_environment())
        wait_for(lambda: first.stdout.readline(), "the first to attach")
        second = self.pdbx(["tasks"], "-a", str(job.pid))
        self.assertIn("another pdbx debugs this job already", second.text)
        os.close(writing)
        first.communicate(timeout=DEADLINE)
        os.close(reading)
        self.ends_well(job)

    def test_no_such_job(self):
        said = self.pdbx(["tasks"], "-a", "nothing")
        self.assertEqual(said.status, 1)
        self.assertIn("nothing", said.err)

    def test_tasks_that_are_traced_already(self):
        source, program = self.folder / "traced.c", self.folder / "traced"
        source.write_text(TRACED)
        subprocess.run(["cc", str(source), "-o", str(program)], check=True)
        said = self.pdbx(["tasks", "cont"], program, self.marker, "-procs", "2")
        self.assertEqual(said.status, 0, said.text)
        job = start(program, self.marker, "wait", "-procs", "2", stdin=subprocess.PIPE)
        self.assertEqual([job.stdout.readline() for _ in range(2)], 2 * [b"traced\n"])
        said = self.pdbx(["tasks", "quit"], "-a", str(job.pid))
        self.assertTrue(any("ermitted" in text or "traced" in text for text in said.answers("tasks")), said.text)
        job.communicate(b"", timeout=DEADLINE)
        self.assertEqual(job.returncode, 0)


TRACED = r"""
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    if (argc < 3) return 0;
    int ready[2], go[2];
    char c;
    if (pipe(ready) || pipe(go)) return 1;
    if (fork() == 0) {
        close(go[1]);
        if (ptrace(PTRACE_SEIZE, getppid(), 0, 0) != 0) return 1;
        if (write(ready[1], "x", 1) != 1) return 1;
        return (int)read(go[0], &c, 1);  /* until the task has ended or says so */
    }
    close(ready[1]);
    if (read(ready[0], &c, 1) != 1) return 1;
    puts("traced");
    fflush(stdout);
    while (read(0, &c, 1) > 0) {}
    close(go[1]);
    return 0;
}
"""


class Faults(PdbxTest):
    def interactive(self, *arguments, env=None):
        """A pdbx that reads commands from a pipe."""
        reading, writing = os.pipe()
        pdbx = subprocess.Popen([PDBX, *map(str, arguments)], stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env=env or clean_environment())
        os.close(reading)
        self.addCleanup(lambda: (pdbx.kill(), pdbx.communicate()) if pdbx.poll() is None else None)
        return pdbx, os.fdopen(writing, "w", buffering=1)

    def gdb_below(self, pid):
        return wait_for(lambda: [each for each in descendants_of(pid)
                                 if "interpreter=mi3" in processes().get(each, (0, "", ""))[2]], "gdb")[0]

    def read_until(self, pdbx, text):
        lines = []
        def found():
            lines.append(pdbx.stdout.readline())
            return text in lines[-1] or not lines[-1]
        wait_for(found, text)
        self.assertIn(text, "".join(lines))

    def test_killed_pdbx_ends_its_job(self):
        pdbx, commands = self.interactive(BUGS / "deadlock", self.marker, "-procs", "4")
        self.read_until(pdbx, "main at deadlock.c")
        self.assertEqual(len(running(str(BUGS / "deadlock"))) >= 4, True)
        pdbx.kill()
        wait_for(lambda: not running(self.marker), "the job to end")

    def test_gdb_that_is_killed(self):
        pdbx, commands = self.interactive(BUGS / "wrong_index", self.marker, "-procs", "4")
        self.read_until(pdbx, "main at wrong_index.c")
        os.kill(self.gdb_below(pdbx.pid), signal.SIGKILL)
        self.read_until(pdbx, "gdb was killed by SIGKILL")
        self.read_until(pdbx, "the sum is 36")
        commands.close()
        pdbx.communicate(timeout=DEADLINE)

    def test_ctrl_c_before_the_tasks_have_stopped(self):
        folder = self.folder / "bin"
        folder.mkdir()
        silent = folder / "gdb"  # a gdb that never answers, so the start does not end
        silent.write_text(f"#!/bin/sh\n> {self.folder}/begun\nexec sleep 300\n")
        silent.chmod(0o755)
        pdbx, commands = self.interactive(BUGS / "deadlock", self.marker, "-procs", "2",
                                          env=clean_environment(PATH=f"{folder}:{os.environ['PATH']}"))
        wait_for((self.folder / "begun").exists, "pdbx to start gdb")
        pdbx.send_signal(signal.SIGINT)
        self.read_until(pdbx, "not all stopped at the beginning of their program yet; the job ends")
        commands.close()
        pdbx.communicate(timeout=DEADLINE)
        self.assertEqual(pdbx.returncode, 0)
        wait_for(lambda: not running(self.marker), "the job to end")

    def test_task_that_is_killed(self):
        pdbx, commands = self.interactive(BUGS / "deadlock", self.marker, "-procs", "4")
        self.read_until(pdbx, "main at deadlock.c")
        victim = [pid for pid in running(self.marker) if processes()[pid][2].startswith(str(BUGS / "deadlock"))][0]
        os.kill(victim, signal.SIGKILL)
        self.read_until(pdbx, "killed by SIGKILL")
        wait_for(lambda: not [pid for pid in running(self.marker) if pid != pdbx.pid], "the job to end")
        commands.close()
        pdbx.communicate(timeout=DEADLINE)

    def test_killed_poe(self):
        pdbx, commands = self.interactive(BUGS / "deadlock", self.marker, "-procs", "4")
        self.read_until(pdbx, "main at deadlock.c")
        poe = [pid for pid in children_of(pdbx.pid)][0]
        os.kill(poe, signal.SIGKILL)
        commands.close()
        pdbx.communicate(timeout=DEADLINE)

    def test_no_gdb(self):
        bare = self.folder / "bin"
        bare.mkdir()
        for name in ("sh", "echo"):
            (bare / name).symlink_to(shutil.which(name))
        said = self.pdbx(["tasks"], "sh", "-c", "echo ran", "-procs", "2", env=clean_environment(PATH=bare))
        self.assertIn("gdb is not installed on this node", said.text)
        self.assertEqual(said.output(), ["ran", "ran"], said.text)
        self.assertEqual(said.status, 1)

    def test_program_that_does_not_exist(self):
        said = self.pdbx(["tasks"], "/nonexistent", "-procs", "2")
        self.assertIn("/nonexistent", "\n".join(said.output()))
        self.assertNotEqual(said.status, 0)

    def test_time_limits_stand_still(self):
        # The time that gdb needs to begin counts.
        said = self.pdbx(["on 0 python import time; time.sleep(12)", "print me", "cont"], BUGS / "wrong_index", "-procs", "2",
                         "-maxtime", "10")
        self.assertEqual(said.status, 0, said.text)
        self.assertIn("the sum is 55, and should be 55", said.output())
        # Without a stop the limit applies.
        said = self.pdbx(["cont"], BUGS / "deadlock", "-procs", "2", "-maxtime", "2")
        self.assertEqual(said.status, 124, said.text)


if __name__ == "__main__":
    main()
