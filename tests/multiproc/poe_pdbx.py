#!/usr/bin/env python3
"""pdbx: whole debugging sessions in batch mode, whose answers are JSON. The programs have mistakes that are known, and
are those of examples/bugs."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from launching import BUILD, DEADLINE, EXAMPLES, POE, SANITIZED, SOURCE, LaunchTest, clean_environment, main

PDBX = str(BUILD / "bin" / "pdbx")
BUGS = EXAMPLES / "bugs"


class Session:
    """The answers of a pdbx that has ended."""

    def __init__(self, result):
        self.status = result.returncode
        self.err = result.stderr
        self.text = result.stdout
        self.reports = [json.loads(line) for line in result.stdout.splitlines()]

    def of(self, command):
        return [report for report in self.reports if report.get("command") == command]

    def answers(self, command):
        """text -> tasks, of all answers to the command."""
        return {answer["text"]: answer["tasks"] for report in self.of(command) for answer in report.get("answers", [])}

    def lines(self, command):
        return [line for report in self.of(command) for line in report.get("lines", [])]

    def stops(self):
        return [(answer["tasks"], answer["text"]) for report in self.reports if report["kind"] == "stop"
                for answer in report["answers"]]

    def output(self):
        return [line for report in self.reports if report["kind"] == "output" for line in report["lines"]]


@unittest.skipIf(SANITIZED, "gdb stops at what the sanitizers do")
class PdbxTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.assertIsNotNone(shutil.which("gdb"))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, commands, *arguments):
        script = self.folder / "commands"
        script.write_text("\n".join(commands) + "\n")
        return [PDBX, "-batch", "-x", str(script), *map(str, arguments)]

    def pdbx(self, commands, *arguments, env=None):
        return Session(subprocess.run(self.command(commands, *arguments), capture_output=True, text=True, timeout=DEADLINE,
                                      stdin=subprocess.DEVNULL, env=env or clean_environment()))


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
        said = self.pdbx(["cont", "group list", "on failed where", "on failed frame 1"], BUGS / "crash", "-procs", "4")
        crashed = sorted(task for tasks, text in said.stops() if "SIGSEGV" in text for task in tasks)
        self.assertEqual(crashed, [1, 2, 3], said.text)
        self.assertTrue(any(line.split() == ["failed", "1-3"] for line in said.lines("group list")), said.text)
        stack = "\n".join(said.lines("on failed where"))
        self.assertIn("add_up(", stack.replace("add_up  ", "add_up("), said.text)
        self.assertIn("MPI_Allreduce", stack, said.text)

    def test_deadlock(self):
        said = self.pdbx(["catch deadlock", "cont", "where", "why"], BUGS / "deadlock", "-procs", "4",
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


if __name__ == "__main__":
    main()
