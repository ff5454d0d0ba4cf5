#!/usr/bin/env python3
"""Jobs as users type them: tasks, arguments, environments, programs, job steps."""

import os
import pathlib
import socket
import tempfile

from launching import POE, LaunchTest, clean_environment, main, poe

HOST = socket.gethostname()


def lines(data):
    return sorted(data.decode().splitlines())


class Basics(LaunchTest):
    def test_one_task_is_the_default(self):
        self.assertEqual(self.ok(poe("hostname")).stdout.decode(), HOST + "\n")

    def test_as_many_tasks_as_asked(self):
        for n in (1, 2, 3, 7, 16, 64):
            result = self.ok(poe("sh", "-c", "echo $MP_CHILD $MP_PROCS", "-procs", n.__str__()))
            self.assertEqual(lines(result.stdout), sorted(f"{i} {n}" for i in range(n)))

    def test_many_more_tasks_than_cores(self):
        result = self.ok(poe("sh", "-c", "echo $MP_CHILD", "-procs", "300"))
        self.assertEqual(sorted(map(int, result.stdout.split())), list(range(300)))
        self.assertEqual(result.stderr, b"")

    def test_variable_and_flag(self):
        env = clean_environment(MP_PROCS=3)
        self.assertEqual(len(self.ok(poe("hostname", env=env)).stdout.split()), 3)
        self.assertEqual(len(self.ok(poe("hostname", "-procs", "2", env=env)).stdout.split()), 2)

    def test_program_arguments_pass_untouched(self):
        script = 'for a in "$@"; do printf "<%s>" "$a"; done'
        args = ["-x", "", " two  words ", "--help", "-version", "*", "\\", "\xff".encode("latin1"), "-proc", "a\nb"]
        result = self.ok(poe("sh", "-c", script, "name", *args[:4], "-procs", "2", *args[4:], "-stdoutmode", "ordered"))
        expected = b"".join(b"<" + os.fsencode(a) + b">" for a in args)
        self.assertEqual(result.stdout, expected + b"\n" + expected)

    def test_labels(self):
        result = self.ok(poe("echo", "x y", "-procs", "3", "-labelio", "yes"))
        self.assertEqual(lines(result.stdout), ["   0:x y", "   1:x y", "   2:x y"])

    def test_environment_is_carried_over(self):
        env = clean_environment(SOME_NAME="a=b c\xe4", MP_LABELIO="no")
        result = self.ok(poe("sh", "-c", 'printf "%s|%s|%s\n" "$SOME_NAME" "$MP_LABELIO" "$MP_PULSE"', "-pulse", "77", env=env))
        self.assertEqual(result.stdout, os.fsencode("a=b c\xe4|no|77\n"))

    def test_working_directory_and_umask(self):
        with tempfile.TemporaryDirectory() as directory:
            result = self.ok(poe("sh", "-c", "pwd; umask", cwd=directory, umask=0o027))
            self.assertEqual(result.stdout.decode().split(), [os.path.realpath(directory), "0027"])

    def test_tasks_have_no_stray_descriptors(self):
        result = self.ok(poe("ls", "/proc/self/fd", env=clean_environment(MP_PMIX="no")))
        self.assertEqual(result.stdout.split(), [b"0", b"1", b"2", b"3"])  # 3 is of ls itself

    def test_signals_of_tasks_are_default(self):
        result = self.ok(poe("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"))
        self.assertEqual(result.stdout.split(), [b"SigBlk:", b"0" * 16, b"SigIgn:", b"0" * 16])

    def test_dry_run_shows_the_map(self):
        result = self.ok(poe("prog", "arg", "-procs", "2", "--dry-run"))
        self.assertEqual([line.split() for line in result.stdout.decode().splitlines()][1:],
                         [["0", HOST, "prog", "arg"], ["1", HOST, "prog", "arg"]])

    def test_version_and_help(self):
        self.assertRegex(self.ok(poe("--version")).stdout, rb"^poe \d+\.\d+\.\d+")
        text = self.ok(poe("-h")).stdout.decode()
        for word in ("-procs", "MP_LABELIO", "-stdoutmode", "-maxtime"):
            self.assertIn(word, text)

    def test_host_file_of_this_node(self):
        with tempfile.TemporaryDirectory() as directory:
            hosts = pathlib.Path(directory, "hosts")
            hosts.write_text(f"! comment\nlocalhost\n{HOST}\nlocalhost")
            saved = pathlib.Path(directory, "saved")
            result = self.ok(poe("hostname", "-procs", "3", "-hostfile", str(hosts), "-savehostfile", str(saved)))
            self.assertEqual(result.stdout.decode().split(), [HOST] * 3)
            words = [line.split()[0] for line in saved.read_text().splitlines() if not line.startswith(("!", "*"))]
            self.assertEqual(words, [HOST] * 3)

    def test_host_list_in_the_directory_is_the_default(self):
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, "host.list").write_text("localhost\n")
            result = self.ok(poe("hostname", "-procs", "2", cwd=directory), 1)
            self.assertIn(b"0031-125", result.stderr)


class Programs(LaunchTest):
    def test_mpmd_from_a_commands_file(self):
        with tempfile.TemporaryDirectory() as directory:
            commands = pathlib.Path(directory, "commands")
            commands.write_text("echo zero\nsh -c 'echo one $MP_CHILD'\n! comment\necho 'two  2'\n")
            result = self.ok(poe("-procs", "3", "-pgmmodel", "mpmd", "-cmdfile", str(commands), "-labelio", "yes"))
            self.assertEqual(lines(result.stdout), ["   0:zero", "   1:one 1", "   2:two  2"])

    def test_mpmd_asked_on_standard_input(self):
        result = self.ok(poe("-procs", "2", "-pgmmodel", "mpmd", input=b"echo a\necho b\n"))
        self.assertEqual(lines(result.stdout), ["a", "b"])

    def test_spmd_asked_on_standard_input_leaves_the_rest_to_the_tasks(self):
        result = self.ok(poe("-procs", "1", input=b"cat\nrest of input\n"))
        self.assertEqual(result.stdout, b"rest of input\n")

    def test_job_steps(self):
        with tempfile.TemporaryDirectory() as directory:
            commands = pathlib.Path(directory, "steps")
            commands.write_text("echo first\necho second\nsh -c 'exit 3'\necho fourth\n")
            result = poe("-procs", "2", "-newjob", "yes", "-cmdfile", str(commands))
            self.ok(result, 3)
            self.assertEqual(result.stdout.split(), [b"first"] * 2 + [b"second"] * 2 + [b"fourth"] * 2)

    def test_a_failed_step_drops_the_rest(self):
        result = poe("-procs", "2", "-newjob", "yes", input=b"echo first\nfalse\necho never\nquit\n")
        self.ok(result, 1)
        self.assertEqual(result.stdout.split(), [b"first"] * 2)

    def test_script_without_an_interpreter_line(self):
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory, "script")
            script.write_text('echo "from sh $1"\n')
            script.chmod(0o755)
            self.assertEqual(self.ok(poe(str(script), "x")).stdout, b"from sh x\n")

    def test_poe_inside_poe(self):
        inner = f"exec {POE} sh -c 'echo $MP_CHILD of $MP_PROCS' -procs 2"
        result = self.ok(poe("sh", "-c", inner))
        self.assertEqual(lines(result.stdout), ["0 of 2", "1 of 2"])


if __name__ == "__main__":
    main()
