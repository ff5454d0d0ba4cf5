#!/usr/bin/env python3
"""The test suites of Debian's packages that use MPI, built with POE's compilers and run on its MPI library: HDF5 and
PnetCDF (parallel files), FFTW (distributed arrays), PT-Scotch (graphs), Boost.MPI (C++).

  tests/soak/package_suites.py [--build build/release] [--folder FOLDER] [SUITE]...

By hand, as root, because it installs tools, fetches sources from Debian's mirror and takes about twenty minutes, most of them to compile. apt
must know a source of type deb-src. Prints a line for each test that fails, with its log, and the number of each
suite's tests. The exit status is 1 if a test has failed."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("autoconf", "automake", "bison", "flex", "libtool", "m4", "perl", "zlib1g-dev", "libboost1.81-dev", "libboost-serialization1.81-dev")
PATIENCE = 900  # seconds for one test
# HDF5's parallel tests in the order of its makefile: t_prestart reads what t_pshutdown has left.
HDF5 = ("t_mpi", "t_bigio", "testphdf5", "t_cache", "t_cache_image", "t_pread", "t_pshutdown", "t_prestart", "t_init_term", "t_shapesame",
        "t_filters_parallel")
BOOST_PAIR = {"sendrecv_vector"}  # for two tasks only, says its makefile
BOOST_OTHER = {"debugger"}  # has no tests, is part of another
NAMES = ("hdf5", "pnetcdf", "fftw", "scotch", "boost")  # functions of Suites


class Suites:
    def __init__(self, build, folder):
        self.folder = folder
        self.environment = {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}"}
        self.passed = self.failed = 0

    def source(self, package):
        """The folder of a package's sources, fetched if it is not there."""
        place = self.folder / package
        if not place.exists():
            place.mkdir()
            fetched = subprocess.run(["apt-get", "source", "-qq", package], cwd=place, capture_output=True, text=True)
            if fetched.returncode != 0:
                place.rmdir()
                sys.exit(f"package_suites: cannot fetch {package}: {fetched.stderr.strip()}\n"
                         "add a source of type deb-src to /etc/apt/sources.list.d, run apt-get update, and try again")
        return next(path for path in place.iterdir() if path.is_dir())

    def run(self, folder, command, patience=0):
        """Runs a shell command; returns whether it succeeded, and its log."""
        # `timeout` ends all processes that the command has started; 0 means never.
        done = subprocess.run(["timeout", "-k", "10", str(patience), "sh", "-c", command], cwd=folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        late = f"\nno end after {patience} s" if done.returncode in (124, 137) else ""
        return done.returncode == 0, done.stdout + late

    def make(self, folder, command):
        worked, log = self.run(folder, command)
        if not worked:
            sys.exit(f"package_suites: {command} failed in {folder}\n{log[-3000:]}")

    def test(self, name, folder, command):
        passed, log = self.run(folder, command, PATIENCE)
        self.passed += passed
        self.failed += not passed
        if not passed:
            print(f"FAILED {name}: {command}\n{log[-2000:]}", flush=True)

    def hdf5(self):
        build = self.source("hdf5") / "of-poe"
        build.mkdir(exist_ok=True)
        if not (build / "Makefile").exists():
            self.make(build, "CC=mpicc.poe CFLAGS='-O1 -w' ../configure --enable-parallel --disable-shared --disable-hl "
                             "--disable-tools --disable-fortran --disable-cxx")
        self.make(build, f"make -j2 -C src && make -C test libh5test.la && make -j2 -C testpar {' '.join(HDF5)}")
        for program in HDF5:
            self.test(f"hdf5 {program}", build / "testpar", f"mpiexec.poe -n 4 ./{program}")

    def pnetcdf(self):
        folder = self.source("pnetcdf")
        if not (folder / "Makefile").exists():
            self.make(folder, "autoreconf -i && MPICC=mpicc.poe MPIF77=mpifort.poe MPIF90=mpifort.poe CFLAGS='-O1 -w' "
                              "FFLAGS='-O1 -w' FCFLAGS='-O1 -w' TESTMPIRUN='mpiexec.poe -n NP' ./configure --disable-cxx")
        self.make(folder, "make -j2 && make -j2 tests")
        for target in ("check", "ptest"):  # one task without mpiexec, and four
            self.test(f"pnetcdf {target}", folder, f"make -k {target}")

    def fftw(self):
        folder = self.source("fftw3")
        if not (folder / "Makefile").exists():
            self.make(folder, "MPICC=mpicc.poe ./configure --enable-mpi --disable-fortran CFLAGS='-O1 -w'")
        self.make(folder, "make -j2")
        self.test("fftw3 mpi", folder / "mpi", "make check-local MPIRUN=mpiexec.poe")

    def scotch(self):
        folder = self.source("scotch") / "src"
        if not (folder / "Makefile.inc").exists():
            self.make(folder, "sed -e '/^CC[PD]/s/=.*/= mpicc.poe/' -e 's/-O3/-O1 -w/' Make.inc/Makefile.inc.x86-64_pc_linux2 > Makefile.inc")
        self.make(folder, "make -j2 ptscotch")
        self.test("scotch ptcheck", folder / "check", "LD_LIBRARY_PATH=$PWD/../../lib make -k ptcheck EXECPPROG=mpiexec.poe EXECPFLAGS= CCP=mpicc.poe CC=mpicc.poe")

    def boost(self):
        folder = self.source("boost1.81") / "libs" / "mpi"
        tests = sorted(path.stem for path in (folder / "test").glob("*.cpp") if path.stem not in BOOST_OTHER)
        compiler = "mpicxx.poe -O1 -w -Iinclude"
        if not (folder / "libmpi.a").exists():
            self.make(folder, f"for f in src/*.cpp; do {compiler} -c $f -o $f.o || exit 1; done && ar rc libmpi.a src/*.o")
        for test in tests:
            if not (folder / test).exists():
                self.make(folder, f"{compiler} test/{test}.cpp -o {test} libmpi.a -lboost_serialization")
        for tasks in (2, 3, 5, 8):
            for test in tests:
                if tasks == 2 or test not in BOOST_PAIR:
                    self.test(f"boost {test} {tasks}", folder, f"mpiexec.poe -n {tasks} ./{test}")


def main():
    parser = argparse.ArgumentParser(description="Runs test suites of Debian's packages on POE's MPI library.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--folder", type=pathlib.Path, help="where sources and what is built stay for the next time")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"one of {', '.join(NAMES)}; default all")
    given = parser.parse_args()
    for name in given.suites:
        if name not in NAMES:
            parser.error(f"no suite {name}; there are {', '.join(NAMES)}")
    if not (given.build / "bin" / "mpicc.poe").exists():
        parser.error(f"{given.build} has no mpicc.poe; ./dev build makes it")
    subprocess.run(["apt-get", "install", "-qq", "-y", *TOOLS], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(prefix="poe-suites-") as temporary:
        folder = (given.folder or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        failed = 0
        for name in given.suites or NAMES:
            suites = Suites(given.build.resolve(), folder)
            getattr(suites, name)()
            print(f"{name}: {suites.passed} passed, {suites.failed} failed", flush=True)
            failed += suites.failed
    sys.exit(failed > 0)


main()
