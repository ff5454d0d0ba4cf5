#!/usr/bin/env python3
"""Command lines as users of other launchers, and of older POEs, type them."""

import os
import pathlib
import socket
import subprocess
import tempfile

from launching import POE, LaunchTest, clean_environment, main, poe

HOST = socket.gethostname()
TELL = 'echo "$0 $MP_CHILD $V $(pwd)"'


def lines(data):
    return sorted(data.decode().splitlines())


class Mpirun(LaunchTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.realpath(self.folder.name)

    def test_the_number_of_tasks_before_the_program(self):
        for flag in ("-n", "-np", "--np"):
            self.assertEqual(lines(self.ok(poe(flag, "3", "sh", "-c", "echo $MP_CHILD $MP_PROCS")).stdout),
                             ["0 3", "1 3", "2 3"])

    def test_after_the_program_it_is_the_program_s(self):
        file = pathlib.Path(self.path, "f")
        file.write_text("10\n9\n")
        for command in (["head", "-n", "1", file], ["sort", "-n", file], ["grep", "-n", "9", file]):
            alone = subprocess.run(command, capture_output=True)
            under = poe(*map(str, command))
            self.assertEqual((under.returncode, under.stdout), (alone.returncode, alone.stdout))
        for command in (["head", "-n", "1", str(file)], ["sort", "-n", str(file)]):
            self.assertEqual(poe(*command).stderr, b"")

    def test_a_number_of_tasks_after_the_program_is_told(self):
        result = self.ok(poe("echo", "-n", "4"))
        self.assertEqual(result.stdout, b"4")
        self.assertIn(b'ATTENTION: 0031-378  "-n 4" was passed to the program', result.stderr)
        self.assertIn(b'"-procs 4"', result.stderr)
        self.assertEqual(self.ok(poe("echo", "-n", "4", "-procs", "2")).stderr, b"")

    def test_near_misses_are_told(self):
        for words, meant in ((["-proc", "4"], b"-procs 4"), (["-labelo", "yes"], b"-labelio yes")):
            result = self.ok(poe("echo", *words))
            self.assertEqual(result.stdout.decode().split(), words)
            self.assertIn(b'poe\'s own flag is "' + meant + b'"', result.stderr)

    def test_variables_and_directory(self):
        env = clean_environment(HERE="there")
        result = self.ok(poe("-x", "V=a b=c", "-x", "HERE", "-wdir", self.path, "-n", "2", "sh", "-c", TELL, "p", env=env))
        self.assertEqual(lines(result.stdout), [f"p {task} a b=c {self.path}" for task in (0, 1)])
        result = self.ok(poe("-x", "NOT_THERE", "true", env=env))
        self.assertIn(b"-x NOT_THERE has no effect", result.stderr)
        os.mkdir(self.path + "/sub")
        result = self.ok(poe("-wdir", "sub", "sh", "-c", "pwd; echo $PWD", cwd=self.path))
        self.assertEqual(result.stdout.decode().split(), [self.path + "/sub"] * 2)
        result = poe("-wdir", "nowhere", "true", cwd=self.path)
        self.ok(result, 1)
        self.assertIn(f"cannot enter the working directory {self.path}/nowhere".encode(), result.stderr)

    def test_several_programs(self):
        result = self.ok(poe("-n", "2", "-x", "V=1", "sh", "-c", TELL, "a", ":", "-np", "1", "-wdir", self.path, "sh",
                             "-c", TELL, "b", ":", "sh", "-c", TELL, "c", "-labelio", "yes"))
        here = os.getcwd()
        self.assertEqual(lines(result.stdout), [f"   0:a 0 1 {here}", f"   1:a 1 1 {here}", f"   2:b 2  {self.path}",
                                                f"   3:c 3  {here}"])
        self.assertEqual(result.stderr, b"")
        dry = self.ok(poe("--dry-run", "-n", "2", "a", "1", ":", "-n", "1", "b"))
        self.assertEqual([line.split() for line in dry.stdout.decode().splitlines()][1:],
                         [["0", HOST, "a", "1"], ["1", HOST, "a", "1"], ["2", HOST, "b"]])
        result = self.ok(poe("-n", "1", "true", ":", "-wdir", self.path + "/none", "true"), 255)
        self.assertIn(b"task 1", result.stderr)
        self.assertIn(b"its working directory", result.stderr)

    def test_a_colon_is_a_word_like_others_without_n(self):
        self.assertEqual(self.ok(poe("echo", "a", ":", "b", "-procs", "1")).stdout, b"a : b\n")
        self.assertEqual(self.ok(poe("-n", "1", "--", "echo", "a", ":", "b")).stdout, b"a : b\n")


class OldScripts(LaunchTest):
    def test_no_eager_messages(self):
        self.ok(poe("true", env=clean_environment(MP_EAGER_LIMIT=0)))

    def test_the_mode_of_collective_calls(self):
        result = self.ok(poe("sh", "-c", "echo $MP_CCL_MODE", "-procs", "2", "-ccl_mode", "Barrier"))
        self.assertEqual(result.stdout, b"barrier\nbarrier\n")
        result = self.ok(poe("true", env=clean_environment(MP_CCL_MODE="barriers")), 1)
        self.assertIn(b'MP_CCL_MODE: "barriers" is not allowed; expected barrier, nonbarrier', result.stderr)

    def test_a_pool_without_a_pools_file(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = poe("true", "-rmpool", "1", cwd=folder)
            self.ok(missing, 1)
            self.assertIn(b"pools", missing.stderr)
            result = self.ok(poe("hostname", "-rmpool", "1", cwd=folder, env=clean_environment(MP_RESD="no")))
            self.assertEqual(result.stdout.decode(), HOST + "\n")
            self.assertIn(b'ATTENTION: 0031-378  -rmpool "1" is ignored: there is no pools file', result.stderr)
            pathlib.Path(folder, "host.list").write_text("localhost\nlocalhost\n")
            for options in ({"env": clean_environment(MP_RMPOOL=1)}, {}):
                words = [] if options else ["-rmpool", "1"]
                result = self.ok(poe("hostname", "-procs", "2", *words, cwd=folder, **options))
                self.assertEqual(result.stdout.decode(), f"{HOST}\n" * 2)
                self.assertIn(b"is ignored: there is no pools file", result.stderr)
            env = clean_environment(MP_POOLFILE=folder + "/mine")
            self.ok(poe("true", "-rmpool", "1", cwd=folder, env=env), 1)

    def test_flags_of_later_versions_are_told_and_removed(self):
        result = self.ok(poe("echo", "x", "-msg_api", "mpi", "-task_affinity", "core", "y",
                             env=clean_environment(MP_DEVTYPE="ib")))
        self.assertEqual(result.stdout, b"x y\n")
        self.assertEqual(result.stderr.count(b"it belongs to later versions of IBM's Parallel Environment"), 3)
        self.assertEqual(self.ok(poe("--", "echo", "-msg_api", "mpi")).stdout, b"-msg_api mpi\n")

    def test_nodes_of_loadleveler(self):
        env = clean_environment(LOADL_PROCESSOR_LIST="localhost localhost localhost ")
        self.assertEqual(self.ok(poe("hostname", env=env)).stdout.decode(), f"{HOST}\n" * 3)
        self.assertEqual(self.ok(poe("hostname", "-procs", "2", env=env)).stdout.decode(), f"{HOST}\n" * 2)
        env["LOADL_TOTAL_TASKS"] = "5"
        self.assertEqual(self.ok(poe("hostname", env=env)).stdout.decode(), f"{HOST}\n" * 5)
        # -resd yes asks for nodes; the job has them.
        self.assertEqual(self.ok(poe("hostname", "-resd", "yes", env=env)).stdout.decode(), f"{HOST}\n" * 5)
        self.assertEqual(self.ok(poe("hostname", "-resd", "no", env=env)).stdout.decode(), f"{HOST}\n")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("localhost\nlocalhost\n")
            file.flush()
            env = clean_environment(LOADL_HOSTFILE=file.name)
            self.assertEqual(self.ok(poe("hostname", env=env)).stdout.decode(), f"{HOST}\n" * 2)
        result = poe("hostname", env=env)
        self.ok(result, 1)
        self.assertIn(b"LOADL_HOSTFILE names this file", result.stderr)

    def test_several_nodes_without_names(self):
        result = poe("hostname", "-nodes", "2", env=clean_environment(), cwd="/")
        self.ok(result, 1)
        self.assertIn(b"(-hostfile FILE)", result.stderr)


class Values(LaunchTest):
    def test_times(self):
        for time in ("1", "1s", "0:01", "0m1s"):
            result = poe("sleep", "60", "-maxtime", time)
            self.ok(result, 124)
            self.assertIn(b"0031-255", result.stderr)
        self.assertIn(b"a time such as 10:00 or 1h30m", self.ok(poe("true", "-maxtime", "1x"), 1).stderr)

    def test_help_is_short_and_complete(self):
        short = self.ok(poe("-h")).stdout.decode()
        complete = self.ok(poe("-h", "all")).stdout.decode()
        self.assertLess(len(short.splitlines()), 45)
        self.assertIn("poe -h all", short)
        self.assertIn("MP_POLLING_INTERVAL", complete)
        self.assertNotIn("MP_POLLING_INTERVAL", short)


if __name__ == "__main__":
    main()
