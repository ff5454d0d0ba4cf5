#!/usr/bin/env python3
"""Makes the library of a foreign binary interface from the tables of mpi/table, parameters.tsv, and what the folder of
the interface contains: constants.tsv and predefined.py.

  constants.hpp      the constants of both interfaces, as lists of pairs
  predefined.hpp, predefined.cpp   the predefined handles of both interfaces
  calls.inc          the functions of our library
  entries_<n>.cpp    the exported functions PMPI_X and their aliases MPI_X, with the prototypes of the interface
  by_hand.inc        the declarations of the functions that are written by hand
  exports.map        the version script of the linker

Usage: generate_foreign_abi.py INTERFACE OUTPUT_FOLDER. INTERFACE is mpich or openmpi. A file whose contents do not change keeps its time."""

import fnmatch
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
INTERFACE = sys.argv[1]
sys.path[:0] = [str(HERE.parent / "table"), str(HERE.parent / "fortran"), str(HERE / INTERFACE)]

import fortran_table  # noqa: E402
import generate as table  # noqa: E402
import predefined  # noqa: E402  (predefined.py of the interface)

ENTRY_FILES = 4
KINDS = ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win")
HANDLES = {f"MPI_{name}" for name in KINDS}


def camel(text):
    return "".join(word[:1].upper() + word[1:].lower() for word in re.split(r"[\W_]+", text) if word)


# The constants

def read_values():
    return {row[0]: int(row[1], 0) for _, row in table.read_rows(HERE / INTERFACE / "constants.tsv")}


def pairs_of(constants, values):
    """The constants of each category that both interfaces have, as text."""
    categories = {}
    for name, ours, category in constants:
        kind = category.partition(" (")
        if name in values and not category.startswith(("handle", "address", "callback", "alias", "limit", "fortran")):
            title = kind[0] + (" MPI_T" if kind[2] == "MPI_T)" else "")
            # Keys of communicators and windows are one list, and so are the two sorts of limits of them.
            title = "attribute key" if title.endswith("attribute key") or title == "keyval" else title
            categories.setdefault(title, []).append(f"    {{{values[name]}, {name}}},  // {name}")
    for title, rows in categories.items():
        yield f"inline constexpr Pair k{camel(title)}[] = {{\n" + "\n".join(rows) + "\n};"


def constants_header(constants, values):
    single = [f"inline constexpr int k{camel(name.removeprefix('MPI_'))} = {values[name]};"
              for name, _, category in constants
              if name in values and category.partition(" (")[0] in ("rank/tag sentinel", "limit", "io", "darray distribution",
                                                                    "array order", "combiner")]
    single.append(f"inline constexpr int kErrLastcode = {values['MPI_ERR_LASTCODE']};")
    single.append(f"inline constexpr int kKeyvalInvalid = {values['MPI_KEYVAL_INVALID']};")
    single.append(f"inline constexpr std::uintptr_t kStatusIgnore = {values['MPI_STATUS_IGNORE']};")
    single.append(f"inline constexpr std::intptr_t kInPlace = {values['MPI_IN_PLACE']};")
    return (HERE / "constants.hpp.in").read_text().replace("@pairs@", "\n".join(pairs_of(constants, values))).replace(
        "@single@", "\n".join(single))


# One parameter: how the entry point takes it, converts it and gives it to our function. The classes that convert are
# in arguments.hpp.

class Rows:
    """parameters.tsv, and the rows of the table of Fortran about arrays of handles and about handles that are read."""

    def __init__(self):
        self.rows = []
        for _, row in table.read_rows(HERE / "parameters.tsv"):
            self.rows.append((row[0], row[1], *(row[2].split(" ", 1) + [""])[:2]))
        self.fortran = [row for row in fortran_table.read_rows()
                        if row[2] in ("array", "inout", "read") or row[2] in ("state", "location", "pointer", "detached")]
        self.used = set()

    def find(self, rows, function, parameter):
        found = None
        for row in rows:
            if row[1] == parameter and fnmatch.fnmatchcase(function, row[0]):
                found = row[2:4]
                self.used.add(row)
        return found

    def notes(self, function):
        found = self.find(self.rows, function, "-")
        return found[0] if found else ""

    def check_all_used(self):
        unused = [row for row in self.rows if row not in self.used]
        if unused:
            sys.exit(f"parameters.tsv of mpi/foreign_abi: no function has the parameter of {unused[0]}")


def foreign_type(text):
    """A type of the table in the foreign interface."""
    text = re.sub(r"\bMPI_\w+_function(_c)?\b|\bMPI_\w+_fn\b", "Function", text)
    text = re.sub(r"\bMPI_Status\b", "Status", text)
    return re.sub(rf"\b({'|'.join(sorted(HANDLES))})\b", r"Theirs<\1>", text)


def declaration(p, large):
    return foreign_type(p.declaration(large))


def prototype(function, large, name):
    shown = [declaration(p, large) for p in function.parameters if p.narrow or large]
    return f"{foreign_type(function.result)} {name}({', '.join(shown) or 'void'})"


def array_length(function, text):
    """The length of an array, from the expression of Fortran, where arguments are references."""
    return text.replace("*", "")


def text_out(name, limit, length="nullptr"):
    return f"TextOut<{limit}, k{camel(limit.removeprefix('MPI_'))}> {name}_({name}, {length});"


def convert(rows, function, p, large):
    """The declaration of the variable `<name>_` that converts, or nothing; and the argument of our function."""
    kind_text = p.wide if large else p.narrow
    name, base = p.name, kind_text.removeprefix("const ").replace("*", "").strip()
    constant = kind_text.startswith("const ")
    pointer = "*" in kind_text
    ours = rows.find(rows.rows, function.name, name)
    theirs = rows.find(rows.fortran, function.name, name)
    if ours:
        kind, more = ours
        category, _, length = more.partition(" ")
        pairs = f"k{camel(category)}"
        variable = {
            "rank_out": f"IntOut<rank_out> {name}_({name});",
            "tag_out": f"IntOut<tag_out> {name}_({name});",
            "error_out": f"IntOut<error_out> {name}_({name});",
            "keyval_inout": f"InOut<keyval_in, keyval_out> {name}_({name});",
            "ranks": f"const IntsIn<rank_in> {name}_({name}, {more});",
            "ranks_out": f"IntsOut<rank_out> {name}_({name}, {more});",
            "value_out": f"IntOut<value_out<{pairs}>> {name}_({name});",
            "values": f"const IntsIn<value_in<{pairs}>> {name}_({name}, {length});",
            "distribution": f"const IntsIn<distribution_in> {name}_({name}, {more});",
            "bits_out": f"IntOut<bits_out<{pairs}>> {name}_({name});",
            "text_out": text_out(name, *more.split(" ")) if kind == "text_out" else None,
        }.get(kind)
        if variable:
            return variable, f"{name}_"
        argument = {
            "rank": f"rank_in({name})", "tag": f"tag_in({name})", "error": f"error_in({name})",
            "keyval": f"keyval_in({name})", "weights": f"weights_in({name})", "value": f"value_in<{pairs}>({name})",
            "bits": f"bits_in<{pairs}>({name})", "displacement": f"displacement_in({name})", "same": name,
        }.get(kind)
        if argument is None:
            sys.exit(f"parameters.tsv of mpi/foreign_abi: '{kind}' of {function.name} is no kind")
        return None, argument
    if base in HANDLES:
        if p.array:
            if not theirs or theirs[0] != "array":
                sys.exit(f"{function.name}: the length of {name} is unknown")
            direction = "In" if constant else "InOut" if base == "MPI_Request" else "Out"
            qualifier = "const " if constant else ""
            return (f"{qualifier}Handles{direction}<{base}> {name}_({name}, {array_length(function, theirs[1])});",
                    f"{name}_")
        if pointer:
            direction = "InOut" if theirs and theirs[0] in ("inout", "read") else "Out"
            return f"Handle{direction}<{base}> {name}_({name});", f"{name}_"
        return None, f"handle_in<{base}>({name})"
    if base == "MPI_Status":
        if name.startswith("array_of"):
            length = rows.find(rows.fortran, function.name, "array_of_requests")[1]
            return f"StatusesOut {name}_({name}, {array_length(function, length)});", f"{name}_"
        kind = "StatusIn" if constant else "StatusInOut" if function.name.startswith("MPI_Status_set") else "StatusOut"
        return f"{'const ' if constant else ''}{kind} {name}_({name});", f"{name}_"
    if base == "void" and not theirs:
        return None, f"buffer_in({name})"
    if base.endswith(("_function", "_function_c")):
        sys.exit(f"{function.name}: the function {name} of the program needs a function by hand")
    return None, name


def entry(rows, function, large):
    """The text of an exported function, and the declaration of the function by hand if it has one."""
    name = function.form_name(large).removeprefix("MPI_")
    own = "foreign_" + name
    note = rows.notes(function.name)
    by_hand = None
    lines = [f'{prototype(function, large, own)} __asm__("PMPI_{name}");',
             f"{prototype(function, large, own)} {{",
             "    poe::caller_site = __builtin_return_address(0);"]
    shown = [p for p in function.parameters if p.narrow or large]
    if note == "by_hand":
        by_hand = prototype(function, large, name.lower()).replace(", ...", "")
        lines.append(f"    return {name.lower()}({', '.join(p.name for p in shown if p.name != '...')});")
    else:
        converted = [convert(rows, function, p, large) for p in shown]
        lines += [f"    {local}" for local, _ in converted if local]
        call = f"library.{name}({', '.join(argument for _, argument in converted)})"
        lines.append(f"    return {f'finish({call})' if function.result == 'int' else call};")
    lines.append("}")
    lines.append(f'{prototype(function, large, "alias_" + name)} __asm__("MPI_{name}")\n'
                 f'    __attribute__((weak, alias("PMPI_{name}")));')
    for other in predefined.other_names(name):
        lines.append(f'{prototype(function, large, "alias_" + other)} __asm__("{other}")\n'
                     f'    __attribute__((weak, alias("PMPI_{name}")));')
    return "\n".join(lines), by_hand


OPENING = """// Exported functions of a foreign binary interface. Generated by generate_foreign_abi.py.
#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"
#include "tracer/probe/caller_site.hpp"

using namespace poe::mpi::foreign;

#pragma GCC visibility push(default)
extern "C" {
"""


def outputs():
    functions = table.read_functions(HERE.parent / "table" / "functions.tsv")
    constants = [row for _, row in table.read_rows(HERE.parent / "table" / "constants.tsv")]
    values = read_values()
    unknown = set(values) - {row[0] for row in constants}
    if unknown:
        sys.exit(f"{INTERFACE}/constants.tsv: {sorted(unknown)[0]} is no constant of mpi/table/constants.tsv")
    rows = Rows()
    texts, by_hand = [], []
    for function, large in table.forms_of(functions):
        if rows.notes(function.name) == "removed":
            continue
        text, declared = entry(rows, function, large)
        texts.append(text)
        by_hand += [declared + ";\n"] if declared else []
    rows.check_all_used()
    yield "constants.hpp", constants_header(constants, values)
    yield from predefined.outputs(constants, values, KINDS)
    yield "calls.inc", "// The functions of our library. Generated by generate_foreign_abi.py.\n" + "".join(
        f"CALL({f.form_name(large).removeprefix('MPI_')})\n" for f, large in table.forms_of(functions))
    yield "by_hand.inc", "// Generated by generate_foreign_abi.py.\n" + "".join(by_hand)
    yield "exports.map", "{\n  global:\n" + "".join(f"    {name};\n" for name in predefined.EXPORTED) + "  local:\n    *;\n};\n"
    yield from table.entry_files("entries_{}.cpp", OPENING, texts, ENTRY_FILES)


def main():
    folder = pathlib.Path(sys.argv[2])
    for name, text in outputs():
        table.write(folder / name, text)


if __name__ == "__main__":
    main()
