#!/usr/bin/env python3
"""Wrong input of every kind: a clear message with the way out, the documented status, nothing left."""

import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile

from launching import POE, LaunchTest, clean_environment, limit_beyond_segment, main, poe

HOST = socket.gethostname()


class BadPrograms(LaunchTest):
    def setUp(self):
        super().setUp()
        self.directory = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.directory.name)

    def tearDown(self):
        self.directory.cleanup()
        super().tearDown()

    def refused(self, program, *words, status=255):
        result = poe(str(program), "-procs", "4", cwd=self.path)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, b"")
        text = result.stderr.decode(errors="replace")
        self.assertEqual(len(text.splitlines()), 1, text)  # folded, not once per task
        self.assertRegex(text, r"^ERROR: 0031-\d\d\d  tasks 0-3 ")
        for word in words:
            self.assertIn(word, text)

    def file(self, name, content, mode=0o755):
        path = self.path / name
        path.write_bytes(content)
        path.chmod(mode)
        return path

    def test_missing(self):
        self.refused("no-such-program", "no-such-program", "PATH")
        self.refused("./missing", "./missing", "no such file")

    def test_in_the_directory_but_not_in_path(self):
        self.file("prog", b"#!/bin/sh\n")
        self.refused("prog", "./prog")

    def test_not_executable(self):
        self.refused(self.file("plain", b"#!/bin/sh\n", 0o644), "not executable", "chmod")

    def test_a_file_system_without_execution(self):
        if os.getuid() != 0:
            self.skipTest("needs root, for a file system of its own")
        script = 'mount -t tmpfs -o noexec tmpfs "$1" && cp /bin/true "$1" && exec "$2" "$1/true" -procs 2'
        result = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", self.path, POE], capture_output=True,
                                stdin=subprocess.DEVNULL, timeout=60, env=clean_environment())
        self.ok(result, 255)
        self.assertIn(b"noexec", result.stderr)
        self.assertNotIn(b"chmod", result.stderr)

    def test_directory(self):
        (self.path / "folder").mkdir()
        self.refused("./folder", "directory")

    def test_wrong_interpreter(self):
        self.refused(self.file("script", b"#!/no/such/shell -x\n"), "/no/such/shell")
        self.refused(self.file("dos", b"#!/bin/sh\r\n"), "carriage return")

    def test_not_a_program(self):
        self.refused(self.file("garbage", b"\x7fELF\0\1\2\3garbage"), "wrong architecture")
        self.refused(self.file("bytes", bytes(range(256))), "not a program")

    def test_empty_name(self):
        result = self.ok(poe("", "-procs", "4"), 1)
        self.assertIn(b"empty", result.stderr)

    def test_one_missing_program_of_many(self):
        commands = self.file("commands", b"true\ntrue\nno-such-one\ntrue\n", 0o644)
        result = poe("-procs", "4", "-pgmmodel", "mpmd", "-cmdfile", str(commands))
        self.assertEqual(result.returncode, 255)
        self.assertIn(b"task 2 (node", result.stderr)


class BadFiles(LaunchTest):
    def host_file(self, content, procs="2"):
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, "hosts").write_bytes(content)
            result = poe("true", "-procs", procs, "-hostfile", "hosts", cwd=directory)
        self.assertLess(len(result.stderr), 2000)
        return result

    def test_unknown_node(self):
        result = self.ok(self.host_file(b"localhost\nno-such-node\n"), 1)
        self.assertIn(b"no-such-node", result.stderr)
        self.assertIn(b"ssh", result.stderr)

    def test_garbage_and_missing_files(self):
        result = self.ok(self.host_file(b"localhost\n\x00\x01\xff\n"), 1)
        self.assertIn(b"hosts:2:", result.stderr)
        result = self.ok(poe("true", "-hostfile", "/no/such/file"), 1)
        self.assertIn(b"/no/such/file", result.stderr)
        result = self.ok(poe("true", "-hostfile", "/tmp"), 1)
        self.assertIn(b"/tmp", result.stderr)

    def test_no_last_newline(self):
        self.ok(self.host_file(b"localhost\nlocalhost"))

    def test_more_tasks_than_nodes(self):
        result = self.ok(self.host_file(b"localhost\n", "3"), 1)
        self.assertIn(b"ERROR: 0031-125  ", result.stderr)
        for word in (b"hosts", b"1", b"3"):
            self.assertIn(word, result.stderr)

    def test_commands_file(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "commands")
            for content, word in ((b"true\n", b"2"), (b"true\necho 'x\n", b"commands:2:6"), (b"", b"commands")):
                file.write_bytes(content)
                result = self.ok(poe("-procs", "2", "-pgmmodel", "mpmd", "-cmdfile", "commands", cwd=directory), 1)
                self.assertIn(word, result.stderr)


    def test_commands_file_that_is_not_used(self):
        result = self.ok(poe("true", "-procs", "2", "-cmdfile", "/nonexistent"))
        self.assertIn(b"-cmdfile is ignored", result.stderr)
        self.assertNotIn(b"ERROR", result.stderr)


class BadFlags(LaunchTest):
    def test_no_place_for_the_report(self):
        for file, why in (("/nonexistent/r.json", b"No such file"), ("/", b"directory")):
            result = self.ok(poe("echo", "ran", "-report", file), 1)
            self.assertEqual(result.stdout, b"")
            self.assertIn(b"report to " + os.fsencode(file) + b": ", result.stderr)
            self.assertIn(why, result.stderr)

    def refused(self, *args, words, env=None):
        result = poe("true", *args, env=env)
        self.ok(result, 1)
        for word in words:
            self.assertIn(word.encode(), result.stderr)

    def test_absurd_numbers(self):
        for value in ("0", "-1", "4x", "", "1e9", "99999999999999999999", "1.5"):
            self.refused("-procs", value, words=["-procs", value or "empty"])
        self.refused(env=clean_environment(MP_PROCS="many"), words=["MP_PROCS", "many"])

    def test_more_tasks_than_this_node_shall_have(self):
        self.refused("-procs", "4", "-tasks_per_node", "3", words=["-tasks_per_node", "which 2 nodes", "-rmpool"])
        self.refused("-procs", "4", "-tasks_per_node", "3", "-nodes", "1", words=["4 tasks do not fit on 1 node with 3"])
        self.ok(poe("true", "-procs", "4", "-tasks_per_node", "4"))

    def test_unknown_values_say_what_is_allowed(self):
        self.refused("-labelio", "yess", words=["-labelio", "yess", "yes", "no"])
        self.refused("-stdoutmode", "orderd", words=["orderd", "ordered", "unordered"])

    def test_misspelt_flag_before_the_program(self):
        result = self.ok(poe("-proc", "4", "true"), 1)
        self.assertIn(b"-procs", result.stderr)

    def test_flag_without_value(self):
        self.refused("-procs", words=["-procs"])

    def test_known_flags_that_do_nothing_yet_say_so(self):
        result = self.ok(poe("true", "-pmdlog", "yes"))
        self.assertRegex(result.stderr, rb"ATTENTION: 0031-\d+  .*-pmdlog")


class Limits(LaunchTest):
    def limited(self, limit, value, *args):
        return poe(*args, preexec_fn=lambda: resource.setrlimit(limit, (value, value)))

    def test_too_few_descriptors(self):
        result = self.ok(self.limited(resource.RLIMIT_NOFILE, 100, "true", "-procs", "64"), 1)
        self.assertIn(b"ulimit", result.stderr)
        self.assertIn(b"100", result.stderr)
        self.ok(self.limited(resource.RLIMIT_NOFILE, 100, "true", "-procs", "4"))

    def test_the_limit_of_tasks_is_the_users(self):
        def limits():
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, 4096))
        result = self.ok(poe("sh", "-c", "ulimit -Sn; ulimit -Hn", "-procs", "1", preexec_fn=limits))
        self.assertEqual(result.stdout.split(), [b"200", b"4096"])

    def test_a_limit_of_file_sizes(self):
        result = self.ok(self.limited(resource.RLIMIT_FSIZE, 1024, "true", "-procs", "2"), 1)
        self.assertRegex(result.stderr, rb"ERROR: .*ulimit -f.*File too large\n$")
        with tempfile.TemporaryFile() as file:  # the segment fits, the output does not
            small, limit = limit_beyond_segment(2)
            result = poe("head", "-c", str(limit), "/dev/zero", "-procs", "2", stdout=file, preexec_fn=small)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot write standard output: File too large", result.stderr)

    def test_tasks_die_of_a_file_that_is_too_large(self):
        with tempfile.TemporaryDirectory() as directory:
            result = self.limited(resource.RLIMIT_FSIZE, 16 << 20, "head", "-c", "20000000", "/dev/zero", "-outfile",
                                  f"{directory}/%r")
            self.assertIn(b"File too large", self.ok(result, 1).stderr)
            result = self.limited(resource.RLIMIT_FSIZE, 16 << 20, "dd", "if=/dev/zero", f"of={directory}/big", "bs=4M",
                                  "count=9")
            self.assertIn(b"SIGXFSZ", self.ok(result, 128 + signal.SIGXFSZ).stderr)

    def test_no_daemon(self):
        result = self.ok(poe("true", env=clean_environment(MP_PMD="/no/such/pmd")), 1)
        self.assertIn(b"MP_PMD", result.stderr)
        result = self.ok(poe("true", env=clean_environment(MP_PMD="/bin/true")), 1)
        self.assertIn(b"the daemon pmd (/bin/true) cannot be started", result.stderr)

    def test_a_removed_directory(self):
        with tempfile.TemporaryDirectory() as directory:
            gone = os.path.join(directory, "gone")
            os.mkdir(gone)
            result = subprocess.run(["bash", "-c", f"cd {gone} && rmdir {gone} && {POE} true"], capture_output=True,
                                    stdin=subprocess.DEVNULL, timeout=60, env=clean_environment())
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"directory", result.stderr)

    def in_small_memory_file_system(self, size, *args):
        script = f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"'
        return subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", POE, *args], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60, env=clean_environment())

    def test_no_space_for_the_segment(self):
        if os.getuid() != 0:
            self.skipTest("needs root, for a file system of its own")
        result = self.ok(self.in_small_memory_file_system("4k", "true", "-procs", "8"), 1)
        self.assertIn(b"/dev/shm", result.stderr)

    def test_no_space_for_messages(self):
        if os.getuid() != 0:
            self.skipTest("needs root, for a file system of its own")
        from launching import EXAMPLES
        if not (EXAMPLES / "wordcount").exists():
            self.skipTest("examples are not built")
        result = self.in_small_memory_file_system("64k", str(EXAMPLES / "wordcount"), "-procs", "4")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(b"/dev/shm", result.stderr)
        self.assertNotIn(b"SIGBUS", result.stderr)


if __name__ == "__main__":
    main()
