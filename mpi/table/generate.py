#!/usr/bin/env python3
"""Makes from functions.tsv and constants.tsv, which describe MPI, what the library and its users need:

  mpi.h                the header for programs
  bodies.inc           the declarations of the functions that do the work, which are written by hand
  entries_<part>.cpp   the exported functions PMPI_X and their aliases MPI_X, a file per part of the library
  exports.map          the version script of the linker

Usage: generate.py OUTPUT_FOLDER. A file whose contents do not change keeps its time, so that nothing that depends on
it is compiled again. The comment at the top of functions.tsv describes the columns."""

import pathlib
import re
import sys
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent.parent / "base"))

from tables import TableError, read_rows, write  # noqa: E402

# The files of entry points, and the categories in each.
PARTS = {
    "point": ("pt2pt", "pt2pt.persistent", "pt2pt.buffer", "partitioned", "status", "generalized-request"),
    "collective": ("coll.blocking", "coll.nonblocking", "coll.persistent"),
    "neighbor": ("coll.neighbor", "coll.neighbor.nonblocking", "coll.neighbor.persistent", "topology"),
    "communicator": ("communicator", "group", "attribute", "dynamic-process", "session"),
    "datatype": ("datatype",),
    "environment": ("abi", "init", "environment", "error", "info", "op", "handle-int"),
    "rma": ("rma",),
    "io": ("io",),
    "tools": ("tools",),
}
CONTEXTS = ("plain", "always", "local", "runtime", "quick")
# A parameter of such a type decides whose error handler an error invokes; the first one counts.
ERROR_OBJECTS = ("MPI_Comm", "MPI_Win", "MPI_File", "MPI_Session")


@dataclass
class Parameter:
    narrow: str  # the type in the plain form; empty: the parameter is absent
    wide: str    # the type in the _c form
    name: str
    array: str   # "[]", "[][3]" or empty

    def declaration(self, large):
        if self.name == "...":
            return "..."
        kind = self.wide if large else self.narrow
        return f"{kind}{'' if kind.endswith('*') else ' '}{self.name}{self.array}"

    def widens(self):
        return self.narrow != self.wide

    def body_type(self):
        """The type that the body sees, the same for both forms of the function."""
        if self.array == "[][3]":
            return "int (*)[3]"
        constant = "const " if self.wide.startswith("const ") else ""
        if not self.widens():
            return self.wide + (" *" if self.array and not self.wide.endswith("*") else "*" if self.array else "")
        if self.wide.endswith("_function_c *"):
            return f"Callback<{self.narrow.removesuffix(' *')}, {self.wide.removesuffix(' *')}>"
        if self.narrow and self.array and constant:
            return "Counts"
        if self.array:
            return f"{self.wide} *"
        return "CountOut" if self.wide.endswith("*") else self.wide

    def body_declaration(self):
        kind = self.body_type()
        if kind == "int (*)[3]":
            return f"int (*{self.name})[3]"
        return f"{kind}{'' if kind.endswith('*') else ' '}{self.name}"

    def argument(self, large):
        if self.narrow or large:
            return self.name
        return {"CountOut": "CountOut()"}.get(self.body_type(), "nullptr" if self.array else "0")


@dataclass
class Function:
    name: str
    result: str
    parameters: list
    category: str
    context: str
    quick: bool
    checks: list
    body: str
    note: str
    forms: list = field(default_factory=list)  # False: plain, True: _c

    def form_name(self, large):
        return self.name + ("_c" if large else "")

    def prototype(self, large, prefix=""):
        shown = [p.declaration(large) for p in self.parameters if p.narrow or large]
        return f"{self.result} {prefix}{self.form_name(large)}({', '.join(shown) or 'void'})"

    def body_prototype(self):
        shown = [] if self.context == "plain" else ["Call &call"]
        shown += [p.body_declaration() for p in self.parameters if p.name != "..."]
        return f"{self.result} {self.body}({', '.join(shown)})"


def enumerator(name):
    return "k" + "".join(word[:1].upper() + word[1:] for word in name.removeprefix("MPI_").split("_"))


def parse_parameter(text):
    if text == "...":
        return Parameter("...", "...", "...", "")
    match = re.fullmatch(r"(.*?)(\w+)((?:\[\d*\])*)", text)
    if not match or not match.group(1):
        raise TableError(f"'{text}' is no parameter")
    kind, name, array = match.group(1).rstrip(), match.group(2), match.group(3)
    if ":" not in kind:
        return Parameter(kind, kind, name, array)
    match = re.fullmatch(r"(const )?(\w+|-):(\w+)( \*)?", kind)
    if not match:
        raise TableError(f"'{kind}' is no pair of types")
    constant, narrow, wide, star = (part or "" for part in match.groups())
    return Parameter("" if narrow == "-" else constant + narrow + star, constant + wide + star, name, array)


def parse_checks(text, parameters):
    if text == "-":
        return []
    checks = []
    for word in text.split():
        match = re.fullmatch(r"(\w+)\((\w+)\)", word)
        if not match or match.group(2) not in [p.name for p in parameters]:
            raise TableError(f"'{word}' is no check of a parameter")
        checks.append(match.groups())
    return checks


def read_functions(path):
    functions = []
    for number, row in read_rows(path):
        try:
            if len(row) not in (8, 9):
                raise TableError(f"has {len(row)} columns instead of 8 or 9")
            name, result, text, category, _, context, checks, body = row[:8]
            if context not in CONTEXTS:
                raise TableError(f"'{context}' is no context")
            if not any(category in categories for categories in PARTS.values()):
                raise TableError(f"'{category}' is no category")
            parameters = [] if text == "void" else [parse_parameter(p.strip()) for p in text.split(",")]
            quick = context == "quick"
            function = Function(name, result, parameters, category, "runtime" if quick else context, quick,
                                parse_checks(checks, parameters), body, row[8] if len(row) == 9 else "")
            function.forms = [False, True] if ":" in text else [False]
            functions.append(function)
        except TableError as error:
            sys.exit(f"{path}:{number}: {row[0]}: {error}")
    return functions


def forms_of(functions):
    """All functions with their _c forms, by name."""
    return sorted(((f, large) for f in functions for large in f.forms), key=lambda each: each[0].form_name(each[1]))


# mpi.h

def constant_line(name, value, category):
    match = re.fullmatch(r"(\w[\w ]*) \((.*)\)", category)
    kind = match.group(2) if match and match.group(1) in ("handle", "address sentinel", "callback sentinel") else None
    if kind:
        value = f"(({kind.replace('*', ' *').replace('* *', '**')}){value})"
    elif value.startswith("-"):
        value = f"({value})"
    return f"#define {name} {value}"


def header(functions, constants):
    enums, lines, before = {}, [], None
    for name, value, category in constants:
        if category.startswith("enum "):
            enums.setdefault(category[6:-1], []).append(f"    {name} = {value}")
            continue
        group = category.partition(" (")[0]
        if before not in (None, group):
            lines.append("")
        before = group
        lines.append(constant_line(name, value, category))
    every = forms_of(functions)
    handles = [f.name[4:-6] for f in functions if f.name.endswith("_toint")]
    conversions = []
    for handle in handles:
        kind = "MPI_Datatype" if handle == "Type" else f"MPI_{handle}"
        for prefix in ("", "P"):
            conversions += [
                f"POE_MPI_INLINE MPI_Fint {prefix}MPI_{handle}_c2f({kind} handle) {{",
                f"    return {prefix}MPI_{handle}_toint(handle);",
                "}",
                f"POE_MPI_INLINE {kind} {prefix}MPI_{handle}_f2c(MPI_Fint handle) {{",
                f"    return {prefix}MPI_{handle}_fromint(handle);",
                "}"]
        # Configuration scripts look for a function of a library or a macro.
        conversions += [f"#define MPI_{handle}_{way} MPI_{handle}_{way}" for way in ("c2f", "f2c")]
    parts = {
        "enums": "\n".join(f"typedef enum {name} {{\n" + ",\n".join(rows) + f"\n}} {name};"
                           for name, rows in enums.items()),
        "constants": "\n".join(lines),
        "prototypes": "\n".join(f.prototype(large) + ";" for f, large in every),
        "profiling": "\n".join(f.prototype(large, "P") + ";" for f, large in every),
        "conversions": "\n".join(conversions),
    }
    text = (HERE / "mpi.h.in").read_text()
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


# The library

# Handles of objects that the program must free. A function that has a pointer to one gives it to the program, or takes it
# back if its name ends with one of TAKING. NEITHER: the pointer is that of a handle which stays what it is.
OWNED = ("MPI_Comm", "MPI_Datatype", "MPI_Errhandler", "MPI_Group", "MPI_Info", "MPI_Message", "MPI_Op", "MPI_Request")
TAKING = ("_free", "_disconnect")
NEITHER = re.compile(r"MPI_(Type_commit|Type_create_f90_\w+|Start|Wait\w*|Test\w*|Cancel|Request_free|I?[Mm]recv"
                     r"|Comm_get_parent|Type_get_value_index)")


def result_of(function, body):
    """The expression that calls the body, and tells check mode which reference the program gets or gives back."""
    handles = [p.name for p in function.parameters if p.narrow in [f"{kind} *" for kind in OWNED] and not p.array]
    if NEITHER.fullmatch(function.name):
        # MPI_Imrecv takes a message and gives a request.
        handles = [name for name in handles if function.name == "MPI_Imrecv" and name == "request"]
    # MPI_Comm_idup gives a communicator and a request.
    for name in handles:
        if function.name.endswith(TAKING):
            return f"call.taken({body}, freed)", f"const void* const freed = *{name};"
        body = f"call.given({body}, {name})"
    return body, None


def quick_entry(function, large, arguments):
    """The lines of an entry point that tries the quick way, and the beginning of the function for all other calls. These are
    two functions, so that the first one saves no registers for the second."""
    name = function.form_name(large)
    # Watchers want to know the place of a call that may wait.
    waits = function.category == "coll.blocking" or function.name in ("MPI_Win_fence", "MPI_Wait", "MPI_Waitall")
    place = [f"{{Function::{enumerator(name)}, MPI_CALL_SITE}}"] if waits else []
    general = function.prototype(large, "general_").replace("(", "(const void* site, ", 1)
    names = [p.name for p in function.parameters]
    # One-sided calls take some nanoseconds, as a call of a function with so many parameters does.
    flatten = "[[gnu::flatten]] " if function.category == "rma" else ""
    return [f"[[gnu::noinline]] static {general};",
            f"{flatten}{function.prototype(large, 'P')} {{",
            f"    if (poe::mpi::quick::{function.body}({', '.join(arguments + place)})) [[likely]]",
            "        return MPI_SUCCESS;",
            f"    return general_{name}({', '.join(['MPI_CALL_SITE'] + names)});",
            "}",
            f"static {general} {{"]


def entry(function, large):
    name = function.form_name(large)
    arguments = [p.argument(large) for p in function.parameters if p.name != "..."]
    lines = quick_entry(function, large, arguments) if function.quick else [f"{function.prototype(large, 'P')} {{"]
    if function.context == "plain":
        lines.append(f"    return poe::mpi::{function.body}({', '.join(arguments)});")
    else:
        # Errors of functions for files belong to the file, or to MPI_FILE_NULL if there is none yet.
        kinds = ("MPI_File",) if function.category == "io" else ERROR_OBJECTS
        about = next((p.name for p in function.parameters if p.narrow in kinds and not p.array), None)
        shown = about or ("MPI_FILE_NULL" if function.category == "io" else "MPI_COMM_NULL")
        lines.append(f"    Call call(Function::{enumerator(name)}, Context::k{function.context.capitalize()},")
        lines.append(f"              ErrorObject({shown}), {'site' if function.quick else 'MPI_CALL_SITE'});")
        tests = ["!call.ready()"] + [f'!check_{kind}(call, {argument}, "{argument}")'
                                     for kind, argument in function.checks]
        lines.append(f"    if ({' || '.join(tests)}) return call.code();")
        result, before = result_of(function, f"call.run([&] {{ return poe::mpi::{function.body}"
                                             f"({', '.join(['call'] + arguments)}); }})")
        lines += [f"    {before}"] if before else []
        lines.append(f"    return {result};")
    lines.append("}")
    lines.append(f'{function.prototype(large)} __attribute__((weak, alias("P{name}")));')
    return "\n".join(lines)


def entries(functions):
    opening = ("// The exported functions of one part of MPI. Generated by generate.py of mpi/table.\n"
               '#include "mpi/api/entry.hpp"\n\n'
               "using poe::mpi::Call;\nusing poe::mpi::Callback;\nusing poe::mpi::Context;\n"
               "using poe::mpi::CountOut;\nusing poe::mpi::Counts;\n"
               "using poe::mpi::ErrorObject;\nusing poe::mpi::Function;\nusing namespace poe::mpi::checks;\n\n"
               "#pragma GCC visibility push(default)\nextern \"C\" {\n\n")
    return opening + "\n\n".join(entry(f, large) for f, large in forms_of(functions)) + \
        "\n\n}\n#pragma GCC visibility pop\n"


def outputs(functions, constants):
    every = forms_of(functions)
    bodies = {f.body: f.body_prototype() for f in functions if f.body == f.name[4:].lower()}
    missing = [f.name for f in functions if f.body not in bodies]
    if missing:
        sys.exit(f"no function has the name of the body of {', '.join(missing)}")
    yield "include/mpi.h", header(functions, constants)
    yield "mpi/table/bodies.inc", "".join(bodies[name] + ";\n" for name in sorted(bodies))
    names = "".join(f"    {f.form_name(large)}; P{f.form_name(large)};\n" for f, large in every)
    yield "exports.map", "{\n  global:\n" + names + "  local:\n    *;\n};\n"
    for part, categories in PARTS.items():
        yield f"entries_{part}.cpp", entries([f for f in functions if f.category in categories])


# Functions for which all members of a communicator or a window meet, and all tasks of a file. Other functions for files
# that do so end with the words of COLLECTIVE_ENDS.
COLLECTIVE_OF_WINDOWS = {"win_create", "win_create_dynamic", "win_allocate", "win_allocate_shared", "win_free",
                         "win_fence"}
COLLECTIVE_OF_FILES = {"file_open", "file_close", "file_set_size", "file_preallocate", "file_set_view", "file_set_info",
                       "file_set_atomicity", "file_sync", "file_seek_shared"}
COLLECTIVE_ENDS = ("_all", "_ordered", "_all_begin", "_ordered_begin")


def file_call_kind(name):
    """The same as call_kind() for a function for files, whose name here is without "MPI_" and in small letters."""
    if name in COLLECTIVE_OF_FILES or name.endswith(COLLECTIVE_ENDS):
        return "kStartsCollective" if name.startswith("file_i") or name.endswith("_begin") else "kCollective"
    return "kCollective" if name.endswith("_end") else "kOther"


def call_kind(function):
    """What a task in this function does, as CallKind of base/calls.hpp."""
    name, category = function.name[4:].lower(), function.category
    if category == "io":
        return file_call_kind(name)
    if name in COLLECTIVE_OF_WINDOWS:
        return "kCollective"
    if function.context != "runtime":
        return "kOther"
    if category in ("coll.blocking", "coll.neighbor") or name == "finalize":
        return "kCollective"
    if category.startswith("coll."):
        return "kStartsCollective"
    if category in ("communicator", "topology", "dynamic-process"):
        return "kStartsCollective" if name.startswith("comm_idup") else "kCollective"
    if name.startswith(("wait", "test", "request_get_status")):
        return "kCompletes"
    if "flush" in name or "detach" in name:
        return "kFlushes"
    if "sendrecv" in name:
        return "kExchanges"
    if "recv" in name or "probe" in name:
        return "kReceives"
    if "send" in name:
        return "kSends"
    return "kOther"


def call_list(functions):
    return "// The calls of MPI. Generated by mpi/table/generate.py.\n" + "".join(
        f'MPI_CALL({enumerator(f.form_name(large))}, "{f.form_name(large)}", {call_kind(f)})\n'
        for f, large in forms_of(functions))


def entry_files(name, opening, texts, number):
    """The functions `texts`, which are exported, in `number` files, as (name of the file, its text). `opening` is the
    beginning of each file; `name` has {} for the number of the file."""
    share = -(-len(texts) // number)
    for i in range(number):
        part = "\n\n".join(texts[i * share:(i + 1) * share])
        yield name.format(i), f"{opening}\n{part}\n\n}}\n#pragma GCC visibility pop\n"


def main():
    functions = read_functions(HERE / "functions.tsv")
    if sys.argv[1] == "--calls":
        write(pathlib.Path(sys.argv[2]), call_list(functions))
        return
    folder = pathlib.Path(sys.argv[1])
    constants = [row for _, row in read_rows(HERE / "constants.tsv")]
    for name, text in outputs(functions, constants):
        write(folder / name, text)


if __name__ == "__main__":
    main()
