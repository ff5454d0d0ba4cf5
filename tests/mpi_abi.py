#!/usr/bin/env python3
"""Compares our mpi.h and libmpi_abi.so.1 with the facts of the MPI 5.0 ABI in tests/golden/mpi_abi, which are
independent of the tables that both are made from:

1. Every constant has its value, and every function has exactly its prototype, under both its names, in C99 and in
   C++11, without any warning.
2. Constants can be used where the standard says: in case labels, array sizes and static initializers.
3. The library exports every function under both names and nothing else, and a program needs no other name.
4. The functions that convert Fortran handles, and those that MPI 3.0 has removed, compile, and can be left out.

Usage: mpi_abi.py BUILD_FOLDER [COMPILER_FLAG...]"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden" / "mpi_abi"
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
LANGUAGES = {"c": ["cc", "-std=c99"], "cpp": ["c++", "-std=c++11"]}


def rows(name):
    return [line.split("\t") for line in (GOLDEN / name).read_text().splitlines() if not line.startswith("#")]


def constants():
    """The constants of the standard, without the extensions of others."""
    return [row for row in rows("constants.tsv") if not row[2].startswith("extension")]


def is_address(category):
    return category.startswith(("handle", "address sentinel", "callback sentinel")) or category == "alias"


def pointer_to(row):
    name, result, parameters = row[:3]
    return result, parameters, name


def program():
    """A program that fails to compile, or to run, when the header or the library differs from the facts."""
    out = ["#include <mpi.h>", "#include <stddef.h>", "#include <stdint.h>", "#include <stdio.h>", ""]
    checks, every = [], constants()
    values = {name: value for name, value, _ in every}
    for number, (name, value, category) in enumerate(every):
        if is_address(category):
            kind = re.search(r"\((.*)\)", category)
            value = values.get(value, value)
            checks.append(f'    if ((uintptr_t)({name}) != {value}u) {{ puts("{name}"); ++wrong; }}')
            if kind:
                out.append(f"{kind.group(1)} variable_{number} = {name};")
        else:
            # An array of a size that only the right value makes legal.
            out.append(f"extern char constant_{number}[({name}) == ({value}) ? 1 : -1];")
    for row in rows("functions.tsv"):
        result, parameters, name = pointer_to(row)
        for prefix in ("", "P"):
            checks.append(f"    {{ {result} (*function)({parameters}) = {prefix}{name}; "
                          f'if (function == NULL) {{ puts("{name}"); ++wrong; }} }}')
    out += ["", "int main(void) {", "    int wrong = 0;", *checks,
            "    if (sizeof(MPI_Status) != 32 || offsetof(MPI_Status, MPI_internal) != 12) ++wrong;",
            "    if (sizeof(MPI_Aint) != sizeof(void *) || sizeof(MPI_Count) != 8 || sizeof(MPI_Offset) != 8) ++wrong;",
            "    switch (wrong) {",
            "        case MPI_SUCCESS: return 0;",
            "        case MPI_UNDEFINED: case MPI_ERR_LASTCODE: return 2;",
            "        default: return 1;", "    }", "}", ""]
    return "\n".join(out)


CONVERSIONS = """#include <mpi.h>
int main(void) {
    MPI_Status status, back;
    MPI_Fint fortran[MPI_F_STATUS_SIZE];
    MPI_F08_status status08;
    int i;
    status.MPI_SOURCE = 3;
    status.MPI_TAG = 4;
    status.MPI_ERROR = 5;
    for (i = 0; i < 5; ++i) status.MPI_internal[i] = 6 + i;
    if (MPI_Status_c2f(&status, fortran) || MPI_Status_f2c(fortran, &back) || back.MPI_internal[4] != 10) return 1;
    if (MPI_Status_f2f08(fortran, &status08) || MPI_Status_f082c(&status08, &back) || back.MPI_TAG != 4) return 2;
    if (fortran[MPI_F_ERROR] != 5) return 3;
    if (MPI_Comm_c2f(MPI_COMM_WORLD) != 0x101 || MPI_Type_f2c(0x209) != MPI_INT) return 4;
    return PMPI_Op_f2c(PMPI_Op_c2f(MPI_SUM)) != MPI_SUM;
}
"""

REMOVED = """#include <mpi.h>
#include <stddef.h>
struct element { double value; int number; };
static int calls;
static void note(MPI_Comm *comm, int *code, ...) { if (*comm == MPI_COMM_SELF && *code == MPI_ERR_OTHER) ++calls; }
int main(void) {
    struct element element;
    int lengths[2] = {1, 2}, size;
    MPI_Aint places[2], lower, upper, extent;
    MPI_Datatype types[2], structure, blocks, rows;
    MPI_Handler_function *function = note;
    MPI_Errhandler handler, found;
    types[0] = MPI_DOUBLE;
    types[1] = MPI_INT;
    MPI_Init(NULL, NULL);
    if (MPI_Address(&element.value, &places[0]) || MPI_Address(&element.number, &places[1])) return 1;
    if (places[1] - places[0] != (MPI_Aint)offsetof(struct element, number)) return 2;
    places[0] = 16;
    places[1] = 24;
    if (MPI_Type_struct(2, lengths, places, types, &structure) || MPI_Type_hindexed(2, lengths, places, MPI_INT, &blocks))
        return 3;
    if (MPI_Type_lb(structure, &lower) || MPI_Type_ub(structure, &upper) || MPI_Type_extent(structure, &extent)) return 4;
    if (lower != 16 || upper != 32 || extent != 16) return 5;
    if (MPI_Type_size(blocks, &size) || size != 12 || MPI_Type_lb(blocks, &lower) || lower != 16) return 6;
    if (MPI_Type_hvector(3, 2, 32, MPI_INT, &rows) || MPI_Type_extent(rows, &extent) || extent != 72) return 7;
    if (MPI_Errhandler_create(function, &handler) || MPI_Errhandler_set(MPI_COMM_SELF, handler)) return 8;
    if (MPI_Errhandler_get(MPI_COMM_SELF, &found) || found != handler) return 9;
    if (MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER) || calls != 1) return 10;
    return MPI_Errhandler_free(&found) || MPI_Errhandler_free(&handler) || MPI_Type_free(&structure) ||
           MPI_Type_free(&blocks) || MPI_Type_free(&rows) || MPI_Finalize();
}
"""

WITHOUT_ADDITIONS = """#define MPI_ABI_ONLY
#include <mpi.h>
typedef char MPI_Fint;
int MPI_Address(void *location, MPI_Aint *address);
int MPI_Address(void *location, MPI_Aint *address) { return MPI_Get_address(location, address); }
int MPI_Comm_c2f(MPI_Comm comm);
int MPI_Comm_c2f(MPI_Comm comm) { return comm == MPI_COMM_NULL; }
int main(void) { return (MPI_Fint)MPI_Comm_c2f(MPI_COMM_SELF); }
"""


class Abi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def build(self, source, language, strict=STRICT):
        path = pathlib.Path(self.folder.name) / f"program.{language}"
        path.write_text(source)
        target = str(path) + ".out"
        command = [*LANGUAGES[language], *strict, *FLAGS, f"-I{BUILD}/generated/mpi/include", str(path), "-o", target,
                   f"-L{BUILD}/lib", "-lmpi_abi", f"-Wl,-rpath,{BUILD}/lib"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[:4000])
        return target

    def test_facts(self):
        for language in LANGUAGES:
            with self.subTest(language):
                done = subprocess.run([self.build(program(), language)], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_conversions(self):
        for language in LANGUAGES:
            for source in (CONVERSIONS, WITHOUT_ADDITIONS):
                with self.subTest(language):
                    if language == "cpp" and source is WITHOUT_ADDITIONS:
                        for declaration in ("int MPI_Comm_c2f(MPI_Comm comm);",
                                            "int MPI_Address(void *location, MPI_Aint *address);"):
                            source = source.replace(declaration, 'extern "C" ' + declaration)
                    self.assertEqual(subprocess.run([self.build(source, language)]).returncode, 0)

    def test_conversions_in_older_c(self):
        """They are macros, too, because configuration scripts look for these or for functions of the library."""
        source = """#include <mpi.h>
#if !defined(MPI_Comm_f2c) || !defined(MPI_Comm_c2f) || !defined(MPI_Type_f2c)
#error "no macros"
#endif
int main(void) {
    MPI_Fint integer = MPI_Comm_c2f(MPI_COMM_SELF);
    return MPI_Comm_f2c(integer) != MPI_COMM_SELF;
}
"""
        for standard in ("c90", "gnu90", "c11"):
            with self.subTest(standard):
                self.assertEqual(subprocess.run([self.build(source, "c", [f"-std={standard}"])]).returncode, 0)

    def test_removed_functions(self):
        for language in LANGUAGES:
            with self.subTest(language):
                program = self.build(REMOVED, language, [*STRICT, "-Wno-deprecated-declarations"])
                self.assertEqual(subprocess.run([program]).returncode, 0)
        with self.assertRaisesRegex(AssertionError, "call MPI_Get_address instead"):
            self.build(REMOVED, "c")

    def test_a_program_imports_functions_only(self):
        known = {row[0] for row in rows("functions.tsv")}
        known |= {"P" + name for name in known}
        listing = subprocess.run(["nm", "-D", "--undefined-only", self.build(CONVERSIONS, "c")], capture_output=True,
                                 text=True, check=True).stdout
        names = {line.split()[-1] for line in listing.splitlines()}
        imported = {name for name in names if name.lstrip("P").startswith("MPI_")}
        self.assertTrue(imported)
        self.assertLessEqual(imported, known)

    def test_exports(self):
        listing = subprocess.run(["nm", "-D", "--defined-only", f"{BUILD}/lib/libmpi_abi.so.1"], capture_output=True,
                                 text=True, check=True).stdout
        exported = {line.split()[-1] for line in listing.splitlines()}
        wanted = {prefix + row[0] for row in rows("functions.tsv") for prefix in ("", "P")}
        self.assertEqual(len(wanted), 1328)
        self.assertEqual(exported, wanted)
        # A tool replaces MPI_X and calls PMPI_X, so MPI_X must be weak and PMPI_X must not.
        for line in listing.splitlines():
            kind, name = line.split()[-2:]
            self.assertEqual(kind, "T" if name.startswith("P") else "W", name)

    def test_memory_of_threads(self):
        """Python and others load the libraries late, when some hundred bytes are left for the variables of threads."""
        sizes = 0
        for library in ("libmpi_abi.so.1", "libpoe_engine.so.1"):
            headers = subprocess.run(["readelf", "-lW", f"{BUILD}/lib/{library}"], check=True, capture_output=True, text=True).stdout
            sizes += int(re.search(r"(?m)^ +TLS +\S+ \S+ \S+ \S+ (\S+)", headers).group(1), 16)
        self.assertLessEqual(sizes, 512)

    def test_soname(self):
        listing = subprocess.run(["readelf", "-d", f"{BUILD}/lib/libmpi_abi.so.1"], capture_output=True, text=True,
                                 check=True).stdout
        self.assertIn("Library soname: [libmpi_abi.so.1]", listing)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    FLAGS = sys.argv[2:]
    os.environ.setdefault("LC_ALL", "C")
    unittest.main(argv=sys.argv[:1], verbosity=2)
