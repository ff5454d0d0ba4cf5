#!/usr/bin/env python3
"""Makes from calls.tsv, which describes the calls of MPL and CCL:

  comm/api/mpproto.h       the header for programs, of which mpproto.h.in is the rest
  mpl.f90                  the Fortran module, of which mpl.f90.in is the rest
  <room>/api/bodies.inc    the declarations of the functions that do the work, which are written by hand
  <room>/api/entries.cpp   the exported functions: in C, by reference and for Fortran

Usage: generate_calls.py OUTPUT_FOLDER. The comment at the top of calls.tsv describes the columns."""

import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent.parent / "base"))

from tables import TableError, read_rows, write  # noqa: E402

# Each kind of parameter: its type in C, by reference, in the body and in Fortran. {} is the name.
#                    C                               by reference      body                 Fortran
KINDS = {
    "const void*":   ("const void* {}",              None,             None,                "data in"),
    "void*":         ("void* {}",                    None,             None,                "data"),
    "size_t":        ("size_t {}",                   "int* {}",        "std::size_t {}",    "in"),
    "int":           ("int {}",                      "int* {}",        None,                "in"),
    "int*":          ("int* {}",                     None,             None,                "out"),
    "inout int*":    ("int* {}",                     None,             None,                "inout"),
    "const int[]":   ("const int* {}",               None,             None,                "in"),
    "int[]":         ("int* {}",                     None,             None,                "out"),
    "count*":        ("COUNT* {}",                   "int* {}",        "UserCount {}",      "out"),
    "count[]":       ("COUNT* {}",                   "int* {}",        "UserCount {}",      "out"),
    "mpl_reduction": ("mpl_reduction {}",            None,             "ReduceFunction {}", "function"),
    "handler":       ("void (*{})(int* msgid)",      None,             None,                "handler"),
}
# The integer types of a count, and what is appended to the name of the function that has each.
COUNTS = {"": "int", "_u": "unsigned", "_l": "long", "_ul": "unsigned long", "_ll": "long long",
          "_ull": "unsigned long long"}
CAST = {"size_t": "length_of({})", "int": "*{}"}


@dataclass
class Parameter:
    kind: str
    name: str
    fortran: str  # its name in Fortran
    default: str  # what a null pointer stands for, by reference; empty: it is an error

    def is_number(self):
        """By reference, it is the address of a number that the body gets by value."""
        return self.kind in CAST

    def c(self, count="int"):
        return KINDS[self.kind][0].format(self.name).replace("COUNT", count)

    def by_reference(self):
        return (KINDS[self.kind][1] or KINDS[self.kind][0]).format(self.name)

    def body(self):
        return (KINDS[self.kind][2] or KINDS[self.kind][0]).format(self.name)

    def argument(self):
        """What the form by reference gives to the body."""
        value = CAST.get(self.kind, "{}").format(self.name)
        return f"{self.name} != nullptr ? {value} : {self.default}" if self.default else value


@dataclass
class Call:
    name: str
    room: str
    starts: bool  # the program's memory is used after the call
    result: str
    error: str
    parameters: list
    body: str
    given: list   # the parameters that the body gets
    ending: str   # what it gets in addition

    def counts(self):
        return [p for p in self.parameters if p.kind.startswith("count")]

    def optional_count(self):
        """The only count, if it may be a null pointer."""
        counts = self.counts()
        return counts[0] if len(counts) == 1 and counts[0].kind == "count*" else None

    def prototype(self, suffix="", count="int"):
        return f"int mpc_{self.name}{suffix}({joined(p.c(count) for p in self.parameters) or 'void'})"

    def reference_prototype(self):
        return f"int mp_{self.name}({joined(p.by_reference() for p in self.parameters) or 'void'})"

    def names(self):
        return joined(p.name for p in self.parameters)

    def body_call(self, prefix, arguments):
        return f'{self.body}("{prefix}_{self.name}"{"".join(f", {each}" for each in arguments)}{self.ending})'


def joined(parts):
    return ", ".join(parts)


def parse_parameter(text):
    match = re.fullmatch(r"(.*?)(\w+)(\[\])?(?::(\w+))?(?:=(-?\d+))?", text)
    kind = match and match.group(1).rstrip() + (match.group(3) or "")
    if kind not in KINDS:
        raise TableError(f"has the parameter '{text}' of no known kind")
    return Parameter(kind, match.group(2), match.group(4) or match.group(2), match.group(5) or "")


def read_calls(path):
    calls = []
    for number, row in read_rows(path):
        try:
            if len(row) != 6:
                raise TableError(f"has {len(row)} columns instead of 6")
            name, room, form, result, error, text = row
            if room not in ("comm", "collectives") or form not in ("whole", "starts", "both"):
                raise TableError(f"has no such room or form as '{room}', '{form}'")
            parameters = [] if text == "void" else [parse_parameter(p.strip()) for p in text.split(",")]
            ending = ", kBlocking" if form == "both" else ""
            calls.append(Call(name, room, form == "starts", result, error, parameters, f"api_{name}", parameters,
                              ending))
            if form == "both":
                started = parameters + [Parameter("int*", "collid", "collid", "")]
                calls.append(Call(f"i{name}", room, True, result, error, started, f"api_{name}", parameters,
                                  ", {false, collid}"))
        except TableError as error:
            sys.exit(f"{path}:{number}: the row {row[0]} {error}")
    return calls


# C and C++

def wrapped(text, indent=""):
    """A declaration in lines of 100 columns. Continuation lines begin below the first parameter."""
    start = indent + " " * (text.index("(") + 1)
    kept = re.sub("(?<!,) ", "\0", text)  # a line ends after a comma only
    return textwrap.fill(kept, 98, initial_indent=indent, subsequent_indent=start, break_long_words=False,
                         break_on_hyphens=False).replace("\0", " ")


def continued(text):
    """The lines of a macro."""
    return " \\\n".join(text.splitlines())


def overload(call):
    """The C++ overload for a count of another type, as part of a macro."""
    return (wrapped(f"inline {call.prototype(count='COUNT')} {{") +
            f"\n    return mpc_{call.name}##SUFFIX({call.names()});\n}}")


def null_overload(call):
    """The C++ overload for a null pointer in place of the count."""
    count = call.optional_count()
    shown = joined("decltype(nullptr)" if p is count else p.c() for p in call.parameters)
    given = joined("static_cast<int*>(nullptr)" if p is count else p.name for p in call.parameters)
    return wrapped(f"inline int mpc_{call.name}({shown}) {{") + f"\n    return mpc_{call.name}({given});\n}}"


def generic_macro(call):
    return (f"#define mpc_{call.name}({call.names()}) \\\n"
            f"    MPL_BY_COUNT_(mpc_{call.name}, {call.counts()[0].name})({call.names()})")


def header(calls):
    counted = [call for call in calls if call.counts()]
    parts = {
        "by_reference": "\n".join(wrapped(call.reference_prototype() + ";") for call in calls),
        "counted_calls": continued("\n".join(
            wrapped(call.prototype("##SUFFIX", "COUNT") + ";", "    ") for call in counted)),
        "counted_overloads": continued("\n".join(
            textwrap.indent(overload(call), "    ") for call in counted)),
        "null_overloads": "\n".join(null_overload(call) for call in counted if call.optional_count()),
        "generic_macros": "\n".join(generic_macro(call) for call in counted),
    }
    parts.update({f"mpc_{call.name}": wrapped(call.prototype() + ";") for call in calls})
    return filled("mpproto.h.in", parts)


def filled(template, parts):
    """The template with each part in place of its name. Each part has one place."""
    text = (HERE / template).read_text()
    for name, part in parts.items():
        if text.count(f"@{name}@") != 1:
            sys.exit(f"{HERE / template}: @{name}@ is there {text.count(f'@{name}@')} times instead of once")
        text = text.replace(f"@{name}@", part)
    unknown = re.search(r"@\w+@", text)
    if unknown:
        sys.exit(f"{HERE / template}: there is no {unknown.group()}")
    return text


# The library

def body_declaration(call):
    shown = ["const comm::Caller& name"] + [p.body() for p in call.given]
    return wrapped(f"int {call.body}({joined(shown + ['Ending ending'] * bool(call.ending))});")


def function(prototype, *lines):
    return f"{prototype} {{\n" + "".join(f"    {line}\n" for line in lines) + "}"


def functions(call):
    """The entry points of a call: in C, one for each type of its count; by reference; and for Fortran."""
    for suffix, count in COUNTS.items() if call.counts() else [("", "int")]:
        yield function(call.prototype(suffix, count), f"return {call.body_call('mpc', [p.name for p in call.given])};")
    numbers = joined(f'{{{p.name}, "{p.name}"}}' for p in call.parameters if p.is_number() and not p.default)
    check = [f'if (!all_given("mp_{call.name}", {{{numbers}}})) return {call.error};'] if numbers else []
    yield function(call.reference_prototype(), *check,
                   f"return {call.body_call('mp', [p.argument() for p in call.given])};")
    shown = [p.by_reference() for p in call.parameters]
    made = f"mp_{call.name}({call.names()})"
    if call.result != "-":
        shown.append(f"int* {call.result}")
        made = f"store({made}, {call.result})"
    yield function(f"void mp_{call.name}_({joined(shown)})", f"{made};")


def entries(calls, room):
    every = [text for call in calls if call.room == room for text in functions(call)]
    return (f"// The entry points of {room}. Generated by generate_calls.py of comm/api.\n"
            f'#include "{room}/api/api.hpp"\n#include "comm/api/by_reference.hpp"\n'
            '#include "comm/api/mpproto.h"\n\n'
            f"using namespace poe::comm;\nusing namespace poe::{room};\n\n"
            '#pragma GCC visibility push(default)\nextern "C" {\n\n' + "\n\n".join(every) +
            "\n\n}\n#pragma GCC visibility pop\n")


# Fortran

def fortran_declaration(parameter, starts):
    facts, name = KINDS[parameter.kind][3], parameter.fortran
    later = ", asynchronous" if starts else ""
    if facts.startswith("data"):
        intent = ", intent(in)" if facts == "data in" else ""
        return [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}", f"type(*), dimension(*){intent}{later} :: {name}"]
    if facts == "function":
        return [f"external :: {name}"]
    if facts == "handler":
        return ["interface", f"    subroutine {name}(msgid)", "        integer, intent(inout) :: msgid",
                f"    end subroutine {name}", "end interface"]
    array = "(*)" if parameter.kind.endswith("[]") else ""
    return [f"integer, intent({facts}){later if facts == 'inout' else ''} :: {name}{array}"]


def subroutine(call):
    parameters = list(call.parameters)
    if call.result != "-":
        parameters.append(Parameter("int*", call.result, call.result, ""))
    lines = [f"subroutine mp_{call.name}({joined(p.fortran for p in parameters)})"]
    lines += ["    " + line for p in parameters for line in fortran_declaration(p, call.starts)]
    lines.append(f"end subroutine mp_{call.name}")
    return textwrap.indent("\n".join(lines), "        ")


def outputs(calls):
    yield "comm/api/mpproto.h", header(calls)
    yield "mpl.f90", filled("mpl.f90.in", {"interfaces": "\n\n".join(map(subroutine, calls))})
    for room in ("comm", "collectives"):
        bodies = [body_declaration(call) for call in calls if call.room == room and call.given is call.parameters]
        yield f"{room}/api/bodies.inc", "\n".join(bodies) + "\n"
        yield f"{room}/api/entries.cpp", entries(calls, room)


def main():
    for name, text in outputs(read_calls(HERE / "calls.tsv")):
        write(pathlib.Path(sys.argv[1]) / name, text)


if __name__ == "__main__":
    main()
