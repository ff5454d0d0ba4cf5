"""What the tests of pdbx share: whole sessions in batch mode, whose answers are JSON, and the building of small programs."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from launching import BUILD, DEADLINE, EXAMPLES, SANITIZED, LaunchTest, clean_environment

PDBX = str(BUILD / "bin" / "pdbx")
BUGS = EXAMPLES / "bugs"
SYSTEM_COMPILERS = ("cc", "g++", "gfortran")  # others are POE's


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
        """text -> tasks, of all answers to the command. Tasks that answer late, as on a busy computer, have a report of their
        own."""
        answers = {}
        for report in self.of(command):
            for answer in report.get("answers", []):
                answers[answer["text"]] = sorted({*answers.get(answer["text"], []), *answer["tasks"]})
        return answers

    def lines(self, command):
        return [line for report in self.of(command) for line in report.get("lines", [])]

    def stops(self):
        """(tasks, text) of the stops. Tasks that stop late, as on a busy computer, have a report of their own; they belong to
        those that have stopped at the same place since the last command."""
        stops, since = [], 0
        for report in self.reports:
            if report["kind"] == "stop":
                for answer in report["answers"]:
                    same = [at for at in range(since, len(stops)) if stops[at][1] == answer["text"]
                            and not set(stops[at][0]) & set(answer["tasks"])]
                    if same:
                        stops[same[0]] = (sorted(stops[same[0]][0] + answer["tasks"]), answer["text"])
                    else:
                        stops.append((answer["tasks"], answer["text"]))
            elif report["kind"] != "output":
                since = len(stops)
        return stops

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

    def build(self, name, source, compiler="mpicc.poe", *flags):
        """Compiles a program with debugging information, and returns it."""
        place = self.folder / name
        place.write_text(source)
        program = place.with_suffix("")
        subprocess.run([compiler if compiler in SYSTEM_COMPILERS else BUILD / "bin" / compiler, "-g", "-O0", place, "-o", program, *flags],
                       check=True)
        return program
