#!/usr/bin/env python3
"""Compares the Fortran interfaces of MPI with the facts of the standard in tests/golden/mpi_abi, which are independent of
the tables that they are made from:

1. The library defines the entry points of every function of mpif.h and of module mpi_f08, under both their names, and
   exports nothing else but what the modules need.
2. mpif.h and both modules have every constant, with its value, and mpif.h obeys the rules of both source forms.
3. Both modules have an interface of every function.

Usage: mpi_fortran.py BUILD_FOLDER [COMPILER_FLAG...]"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "mpi_abi"
# Functions that Fortran does not have: it needs no conversion of handles, and its logical values are known.
C_ONLY = re.compile(r"MPI_T_\w+|\w+_(toint|fromint)|MPI_Abi_[gs]et_fortran_booleans")
# Functions that have no form in module mpi_f08 (section 16).
OLD = re.compile(r"MPI_Attr_\w+|MPI_Keyval_\w+")
# Functions that MPI 3.0 has removed, for programs with mpif.h.
REMOVED = ["address", "errhandler_create", "errhandler_get", "errhandler_set", "type_extent", "type_hindexed", "type_hvector",
           "type_lb", "type_struct", "type_ub"]


def rows(name):
    return [line.split("\t") for line in (GOLDEN / name).read_text().splitlines() if not line.startswith("#")]


def functions():
    """All functions of Fortran, with the large-count forms."""
    return [row for row in rows("functions.tsv") if not C_ONLY.fullmatch(row[0])]


def has_buffer(row):
    """True if module mpi_f08 has a choice buffer among the arguments, which gives the procedure another name."""
    pointers = re.findall(r"void \*(\w+)", row[2])
    return any(name not in ("attribute_val", "extra_state", "baseptr", "buffer_addr") for name in pointers)


def constants():
    """Name, value in Fortran and type of the handle (or nothing) of each constant that Fortran has."""
    values = {}
    for name, value, category in rows("constants.tsv"):
        if name.startswith("MPI_T_") or category.startswith(("extension", "enum")) or "sentinel (" in category:
            continue
        if category == "fortran status":
            continue
        kind = re.fullmatch(r"handle \((\w+)\)", category)
        if category == "alias":
            values[name] = values[value]
            continue
        number = int(value, 0)
        if category == "limit" and name.startswith("MPI_MAX_"):
            number -= 1
        values[name] = number, kind and kind.group(1)
    values |= {"MPI_STATUS_SIZE": (8, None), "MPI_SOURCE": (1, None), "MPI_TAG": (2, None), "MPI_ERROR": (3, None)}
    return values


VARIABLES = ["MPI_BOTTOM", "MPI_IN_PLACE", "MPI_BUFFER_AUTOMATIC", "MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE",
             "MPI_ERRCODES_IGNORE", "MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY", "MPI_ARGV_NULL", "MPI_ARGVS_NULL",
             "MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"]


class Fortran(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def compile(self, source, name="program.f90", *flags):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(source)
        include = BUILD / "include" / "poe-mpi"
        done = subprocess.run(["gfortran", *flags, *FLAGS, f"-I{include}", f"-I{include}/gfortran", str(path), "-o",
                               str(path) + ".out", f"-L{BUILD}/lib", "-lmpifort_abi", "-lmpi_abi",
                               f"-Wl,-rpath,{BUILD}/lib"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return str(path) + ".out"

    def test_entry_points(self):
        listing = subprocess.run(["nm", "-D", "--defined-only", str(BUILD / "lib" / "libmpifort_abi.so.1")],
                                 capture_output=True, text=True, check=True).stdout
        defined = {line.split()[2].split("@")[0] for line in listing.splitlines()}
        expected = set()
        for row in functions():
            name = row[0].lower()
            suffix = "_f08ts" if has_buffer(row) else "_f08"
            names = [name + suffix] if not OLD.fullmatch(row[0]) else []
            names += [name] if not name.endswith("_c") else []
            expected |= {prefix + each + "_" for each in names for prefix in ("", "p")}
        expected |= {f"{prefix}mpi_{name}_" for name in REMOVED for prefix in ("", "p")}
        self.assertEqual(sorted(expected - defined), [])
        others = {name for name in defined - expected if name.startswith(("mpi_", "pmpi_"))}
        self.assertEqual({name for name in others if not re.fullmatch(
            r"p?mpi_\w+_cptr_|p?mpi_(status_f2f08|status_f082f|f_sync_reg)_|mpi_\w*_fn_(null_)?(c_)?|mpi_conversion_\w+",
            name)}, set())

    def test_constants(self):
        values = constants()
        checks = []
        for name, (value, kind) in values.items():
            for part in ("", "%MPI_VAL") if kind else ("",):
                checks.append((name, part, value))
        old = "".join(f"if ({name} /= {value}) stop '{name}'\n" for name, part, value in checks if not part)
        typed = {name for name, part, _ in checks if part}
        f08 = "".join(f"if ({name}{part} /= {value}) stop '{name}'\n" for name, part, value in checks
                      if bool(part) == (name in typed))
        exist = "".join(f"print *, kind({name})\n" if name not in ("MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE") else
                        f"print *, storage_size({name})\n" for name in VARIABLES)
        for head, body in (("include 'mpif.h'\n", old), ("use mpi\n", old), ("use mpi_f08\n", f08)):
            implicit = "implicit none\n"
            text = implicit + head if head.startswith("include") else head + implicit
            with self.subTest(head.strip()):
                program = self.compile("program test\n" + text + body + exist + "end program\n")
                done = subprocess.run([program], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_mpif_h_has_both_forms(self):
        self.compile("      program test\n      implicit none\n      include 'mpif.h'\n      integer i\n"
                     "      i = MPI_COMM_WORLD\n      end\n", "fixed.f", "-ffixed-form", "-Wall", "-Wno-unused")
        lines = (BUILD / "include" / "poe-mpi" / "mpif.h").read_text().splitlines()
        self.assertEqual([line for line in lines if len(line) > 72], [])

    def test_interfaces(self):
        """An interface exists if a program can import its name."""
        plain = [row[0] for row in functions() if not row[0].endswith("_c")]
        for module, names in (("mpi", plain), ("mpi_f08", [name for name in plain if not OLD.fullmatch(name)])):
            lines = "".join(f"use {module}, only: {name}, P{name}\n" for name in names)
            with self.subTest(module):
                self.compile(f"program test\n{lines}implicit none\nend program\n", f"{module}.f90")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1])
    FLAGS = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
