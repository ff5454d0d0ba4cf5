#!/usr/bin/env python3
"""MPL programs as users run them: the examples under poe, and programs that start poe themselves."""

import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from launching import BUILD, EXAMPLES, SANITIZED, LaunchTest, clean_environment, daemon_of, main, poe, start, wait_for

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
LICENCE = "/usr/share/common-licenses/GPL-3"


def true_counts(file):
    """What the shell says: tr | sort | uniq -c."""
    pipeline = f"tr -cs A-Za-z '\\n' < {file} | tr A-Z a-z | grep . | LC_ALL=C sort | uniq -c | LC_ALL=C sort -k1,1nr -k2"
    lines = subprocess.run(["sh", "-c", pipeline], capture_output=True, text=True, check=True).stdout.splitlines()
    return [(line.split()[1], int(line.split()[0])) for line in lines]


class Examples(LaunchTest):
    def counted(self, output):
        pairs = re.findall(r"^(?:\s*\d+:)?\s*(\d+)\s+([a-z]+)$", output, re.M)
        if not pairs:
            pairs = [(n, w) for w, n in re.findall(r"^(?:\s*\d+:)?\s*([a-z]+)\s+(\d+)$", output, re.M)]
        return [(word, int(number)) for number, word in pairs]

    def test_word_count_equals_the_shells(self):
        expected = true_counts(LICENCE)
        total = sum(number for _, number in expected)
        for n in (1, 2, 4, 7):
            out = self.ok(poe(str(EXAMPLES / "wordcount"), "-procs", str(n), "-labelio", "yes")).stdout.decode()
            self.assertEqual(self.counted(out)[:10], expected[:10], out)
            parts = [int(x) for x in re.findall(r"task\s+\d+\D+(\d+)", out)]
            self.assertEqual((len(parts), sum(parts)), (n, total), out)

    def test_word_count_of_other_files(self):
        with tempfile.TemporaryDirectory() as directory:
            for content in (b"", b"one", b"a-b a_b\n" * 3, b"word " * 10000, b"x" * 100000):
                file = pathlib.Path(directory, "text")
                file.write_bytes(content)
                out = self.ok(poe(str(EXAMPLES / "wordcount"), str(file), "-procs", "3")).stdout.decode()
                self.assertEqual(self.counted(out)[:10], true_counts(file)[:10])
        result = poe(str(EXAMPLES / "wordcount"), "/no/such/file", "-procs", "3")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(b"/no/such/file", result.stderr)

    def test_ring(self):
        for n in (1, 2, 16):
            out = self.ok(poe(str(EXAMPLES / "ring"), "-procs", str(n))).stdout
            self.assertTrue(out)

    def test_fortran(self):
        out = self.ok(poe(str(EXAMPLES / "hello"), "-procs", "3")).stdout.decode()
        self.assertGreaterEqual(len(out.splitlines()), 3, out)


class Library(LaunchTest):
    def compile(self, directory, code):
        source = pathlib.Path(directory, "prog.c")
        source.write_text("#include <mpproto.h>\n#include <stdio.h>\n#include <stdlib.h>\n" + code)
        program = pathlib.Path(directory, "prog")
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(source), "-o", str(program)], check=True)
        return str(program)

    def test_a_program_starts_poe_by_itself(self):
        result = subprocess.run([str(EXAMPLES / "ring"), "-procs", "4", "-labelio", "yes"], capture_output=True, timeout=60,
                                env=clean_environment(), stdin=subprocess.DEVNULL)
        self.ok(result)
        self.assertRegex(result.stdout, rb"(?m)^   0:")
        alone = subprocess.run([str(EXAMPLES / "ring")], capture_output=True, timeout=60, env=clean_environment(),
                               stdin=subprocess.DEVNULL)
        self.ok(alone)

    def test_stopall_ends_the_job_with_its_code(self):
        with tempfile.TemporaryDirectory() as directory:
            program = self.compile(directory, """
int main(void) { int n, me; mpc_environ(&n, &me); if (me == 1) { printf("stopping"); mpc_stopall(42); } mpc_sync(ALLGRP);
                 return 0; }""")
            result = self.ok(poe(program, "-procs", "4"), 42)
            self.assertIn(b"stopping", result.stdout)
            self.assertIn(b"task 1 (node", result.stderr)
            self.assertIn(b"mpc_stopall(42)", result.stderr)

    def test_death_of_a_task_frees_those_who_wait_for_it(self):
        with tempfile.TemporaryDirectory() as directory:
            program = self.compile(directory, """
int main(void) { int n, me, from = 0, type = 1, x; size_t k; mpc_environ(&n, &me); mpc_sync(ALLGRP);
                 printf("ready\\n"); fflush(stdout);
                 if (me == 0) for (;;) ; mpc_brecv(&x, sizeof x, &from, &type, &k); return 0; }""")
            job = start(program, "-procs", "3")
            for _ in range(3):
                self.assertEqual(job.stdout.readline(), b"ready\n")
            os.kill(self.task_zero(job), signal.SIGKILL)
            job.communicate(timeout=60)
            self.assertEqual(job.returncode, 137)

    def task_zero(self, job):
        def find():
            for pid in pathlib.Path(f"/proc/{daemon_of(job.pid)}/task").glob("*/children"):
                for child in pid.read_text().split():
                    if b"MP_CHILD=0\0" in pathlib.Path(f"/proc/{child}/environ").read_bytes():
                        return int(child)
            return None
        return wait_for(find, "task 0")

    def test_library_mistakes_name_the_call(self):
        with tempfile.TemporaryDirectory() as directory:
            program = self.compile(directory, """
int main(void) { char x = 1; if (mpc_bsend(&x, 1, 99, 1) == -1) printf("refused %d\\n", mperrno != 0); return 0; }""")
            result = self.ok(poe(program, "-procs", "2"))
            self.assertEqual(result.stdout, b"refused 1\n" * 2)
            self.assertIn(b"0032-", result.stderr)
            self.assertIn(b"99", result.stderr)

    def test_a_member_that_is_no_task(self):
        with tempfile.TemporaryDirectory() as directory:
            program = self.compile(directory, """
int main(void) { int list[] = {0, 88}, gid; return mpc_group(2, list, 1, &gid) == -1 ? 0 : 3; }""")
            result = self.ok(poe(program, "-procs", "2"))
            self.assertEqual(result.stderr.count(b" there is no task 88; tasks are 0 to 1.\n"), 2, result.stderr)


class Reductions(unittest.TestCase):
    @unittest.skipIf(SANITIZED or platform.machine() != "x86_64", "other instructions")
    def test_the_predefined_ones_work_on_whole_vectors(self):
        library = str(BUILD / "lib" / "libmpl.so")
        for kind, operations in {"isd": ("vadd", "vmul", "vmax", "vmin"), "bl": ("vand", "vor", "vxor")}.items():
            for name in (f"{letter}_{operation}" for letter in kind for operation in operations):
                code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={name}", library],
                                      check=True, capture_output=True, text=True).stdout
                self.assertRegex(code, r"\b(v?(add|mul|cmp[a-z]*)p[sd]|v?p(add|cmp|mul|and|or|xor)[a-z]*) ", name)


class Engine(LaunchTest):
    LIBRARIES = BUILD / "lib"

    @staticmethod
    def names(library):
        lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        return sorted({line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"})

    def test_libmpl_exports_the_calls_and_nothing_else(self):
        golden = GOLDEN / "libmpl_names.txt"
        names = self.names(self.LIBRARIES / "libmpl.so")
        if os.environ.get("POE_UPDATE_GOLDEN") == "1":
            golden.write_text("\n".join(names) + "\n")
        self.assertEqual(names, golden.read_text().splitlines())

    def test_the_engine_has_no_public_name_in_c(self):
        names = self.names(self.LIBRARIES / "libpoe_engine.so")
        self.assertGreater(len(names), 100)
        self.assertEqual([name for name in names if not re.match(r"_Z(TI|TS|TV|TT|Z|GVZ)?NK?3poe", name)], [])

    @unittest.skipIf(SANITIZED, "a sanitizer's library has to be first")
    def test_two_copies_of_libmpl_share_one_engine(self):
        library = str(self.LIBRARIES / "libmpl.so.1")
        with tempfile.TemporaryDirectory() as directory:
            copy = os.path.join(directory, "libcopy.so")
            shutil.copyfile(library, copy)
            for how in ("local", "global", "lazy"):
                paths = [library, copy]
                if how == "lazy":  # the copy is loaded first, so its run path must lead to the engine
                    os.symlink(self.LIBRARIES / "libpoe_engine.so.1", os.path.join(directory, "libpoe_engine.so.1"))
                for n in (1, 3):
                    result = self.ok(poe(str(BUILD / "bin" / "engine_copies"), how, *paths, "-procs", str(n)))
                    self.assertEqual(sorted(result.stdout.splitlines()),
                                     [f"{task} of {n}".encode() for task in range(n)], (how, result.stderr))


class Installation(LaunchTest):
    def test_installed_copy_builds_and_runs_programs(self):
        with tempfile.TemporaryDirectory() as directory:
            prefix = os.path.join(directory, "prefix")
            subprocess.run(["cmake", "--install", str(BUILD), "--prefix", prefix], check=True, capture_output=True)
            project = pathlib.Path(directory, "project")
            project.mkdir()
            (project / "main.c").write_text(
                "#include <mpproto.h>\n#include <stdio.h>\nint main(void) { int n, me; if (mpc_environ(&n, &me)) return 1; "
                'mpc_sync(ALLGRP); printf("%d of %d\\n", me, n); return 0; }\n')
            (project / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nfind_package(poe REQUIRED)\n"
                "add_executable(p main.c)\ntarget_link_libraries(p PRIVATE poe::mpl)\n")
            run = lambda *command: subprocess.run(command, check=True, capture_output=True, timeout=120)
            # A library made with a sanitizer works only in programs made with it.
            like_library = [f"-fsanitize={os.environ['POE_SANITIZE']}"] if SANITIZED else []
            run("cmake", "-S", str(project), "-B", str(project / "b"), f"-DCMAKE_PREFIX_PATH={prefix}",
                f"-DCMAKE_C_FLAGS={' '.join(like_library)}")
            run("cmake", "--build", str(project / "b"))
            run(f"{prefix}/bin/mpcc", *like_library, str(project / "main.c"), "-o", str(project / "by_mpcc"))
            pkg_config = next(pathlib.Path(prefix).rglob("mpl.pc"))
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", "mpl"], capture_output=True, text=True, check=True,
                                   env={**os.environ, "PKG_CONFIG_PATH": str(pkg_config.parent)}).stdout.split()
            run("cc", *like_library, str(project / "main.c"), "-o", str(project / "by_pkg_config"), *flags)
            programs = ["b/p", "by_mpcc", "by_pkg_config"]
            for kind in () if SANITIZED else ("-static", "-static-pie"):  # sanitizers cannot be linked so
                run(f"{prefix}/bin/mpcc", kind, str(project / "main.c"), "-o", str(project / f"by_mpcc{kind}"))
                programs.append(f"by_mpcc{kind}")
            library = str(next(pathlib.Path(prefix).rglob("libmpl.so")).parent)
            for program in programs:
                result = subprocess.run([f"{prefix}/bin/poe", str(project / program), "-procs", "2"], capture_output=True,
                                        timeout=60, env=clean_environment(LD_LIBRARY_PATH=library), stdin=subprocess.DEVNULL)
                self.assertEqual(sorted(result.stdout.splitlines()), [b"0 of 2", b"1 of 2"], (program, result.stderr))
                # Over TCP, where tasks prove to each other that they belong to one job.
                result = subprocess.run([f"{prefix}/bin/poe", str(project / program), "-procs", "2", "-euilib", "ip"],
                                        capture_output=True, timeout=60, env=clean_environment(LD_LIBRARY_PATH=library),
                                        stdin=subprocess.DEVNULL)
                self.assertEqual(sorted(result.stdout.splitlines()), [b"0 of 2", b"1 of 2"], (program, result.stderr))
            manual = subprocess.run(["man", "-l", f"{prefix}/share/man/man1/poe.1"], capture_output=True,
                                    env={**os.environ, "MANPAGER": "cat"})
            self.assertIn(b"labelio", manual.stdout)


if __name__ == "__main__":
    main()
