#!/usr/bin/env python3
"""What is installed: Debian packages, their files, and that these work where they lie."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from launching import BUILD, SANITIZED, SOURCE, LaunchTest, clean_environment, main


@unittest.skipIf(SANITIZED, "packages are made of the release build")
@unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "dpkg-dev is missing")
class Packages(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        made = subprocess.run([SOURCE / "packaging/make_packages", BUILD, folder / "debs"], cwd=SOURCE,
                              capture_output=True, text=True)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        cls.debs = {deb.name.split("_")[0]: deb for deb in (folder / "debs").glob("*.deb")}
        cls.root = folder / "root"
        for deb in cls.debs.values():
            subprocess.run(["dpkg-deb", "-x", deb, cls.root], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def files(self, package):
        listed = subprocess.run(["dpkg-deb", "-c", self.debs[package]], capture_output=True, text=True, check=True)
        return {line.split()[5].lstrip(".") for line in listed.stdout.splitlines()}

    def field(self, package, name):
        return subprocess.run(["dpkg-deb", "-f", self.debs[package], name], capture_output=True, text=True,
                              check=True).stdout.strip()

    def run_in(self, *words, status=0, **variables):
        env = clean_environment(PATH=f"{self.root}/usr/bin:{os.environ['PATH']}", **variables)
        result = subprocess.run(words, cwd=self.folder.name, env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout

    def test_packages_and_what_they_need(self):
        self.assertEqual(set(self.debs), {"poe", "libmpl1", "libmpl-dev", "poe-doc"})
        version = self.field("poe", "Version")
        self.assertIn(f"libmpl1 (= {version})", self.field("poe", "Depends"))
        self.assertRegex(self.field("poe", "Depends"), r"libc6 \(>= ")
        self.assertIn(f"libmpl1 (= {version})", self.field("libmpl-dev", "Depends"))
        self.assertEqual(self.field("poe-doc", "Architecture"), "all")

    def test_files(self):
        for package, names in {
                "poe": ["bin/poe", "bin/pmd", "bin/vt", "bin/poekill", "bin/llsubmit", "lib/poe/libpoe-unbuffered.so",
                        "share/man/man1/poe.1.gz", "share/man/man7/poe-tutorial.7.gz",
                        "share/bash-completion/completions/poe", "share/bash-completion/completions/poekill",
                        "share/zsh/vendor-completions/_poe", "share/fish/vendor_completions.d/poe.fish"],
                "libmpl1": ["lib/libmpl.so.1", "lib/libpoe_engine.so.1", "lib/libmpifort_abi.so.1"],
                "libmpl-dev": ["bin/mpcc", "include/mpproto.h", "lib/libmpl.so", "lib/libmpl.a",
                               "lib/pkgconfig/mpl.pc", "bin/mpifort.poe", "include/poe-mpi/mpif.h",
                               "include/poe-mpi/gfortran/mpi_f08.mod", "lib/poe/mpi/pkgconfig/mpi-fort.pc",
                               "share/man/man3/mpc_bcast.3.gz"],
                "poe-doc": ["share/doc/poe/README.md", "share/doc/poe/LICENSE", "share/doc/poe/examples/solver.c",
                            "share/doc/poe/examples/Makefile"]}.items():
            files = self.files(package)
            for name in names + [f"share/doc/{package}/copyright"]:
                self.assertIn("/usr/" + name, files)
        owned = [file for package in self.debs for file in self.files(package) if not file.endswith("/")]
        self.assertEqual(len(owned), len(set(owned)))

    def test_they_work_where_they_lie(self):
        self.assertEqual(self.run_in("poe", "sh", "-c", "echo $MP_CHILD", "-procs", "2", "-stdoutmode", "ordered"), "0\n1\n")
        examples = self.folder.name + "/examples"
        shutil.copytree(self.root / "usr/share/doc/poe/examples", examples)
        self.run_in("make", "-C", examples, "ring", "solver")
        self.assertIn("1 round", self.run_in("poe", examples + "/ring", "-procs", "2"))
        self.assertEqual(self.run_in("poe", examples + "/solver", "-procs", "4"), "12 rounds\n")

    def test_pkg_config_gives_a_run_path(self):
        program = pathlib.Path(self.folder.name, "program")
        program.with_suffix(".c").write_text("#include <mpproto.h>\nint main(void) { int n, me; return mpc_environ(&n, &me); }\n")
        flags = self.run_in("pkg-config", "--cflags", "--libs", "mpl", PKG_CONFIG_PATH=self.root / "usr/lib/pkgconfig").split()
        self.run_in("cc", program.with_suffix(".c"), "-o", program, *flags)
        self.run_in("poe", program, "-procs", "2")
        self.run_in(program)

    def test_versions(self):
        version = re.escape(self.field("poe", "Version"))
        for name in ("poe", "poestat", "poekill", "pmarray", "mpmark", "mcp", "mcpscat", "mcpgath", "mpsim", "mptune", "pmd",
                     "pmd-core", "pmd-pmix", "pmd-sample", "llsubmit", "llq", "llcancel", "mpcc", "mpCC", "mpfort"):
            self.assertRegex(self.run_in(self.root / "usr/bin" / name, "--version"), rf"(?m)^{name} (of POE )?{version}$")


if __name__ == "__main__":
    main()
