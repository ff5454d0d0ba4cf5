"""The text of mpif.h and of the modules: constants, interfaces of all functions, and the types of module mpi_f08. What
does not come from the tables is in the templates constants.f90.in, mpi.f90.in and mpi_f08.f90.in."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent

# The longest line of free-form Fortran is 132 characters.
LINE = 120


def wrapped(line, indent):
    """Breaks a statement into lines that Fortran continues."""
    lines, rest = [], indent + line
    while len(rest) > LINE and not line.startswith("!"):
        cut = rest.rindex(" ", 0, LINE)
        lines.append(rest[:cut] + " &")
        rest = indent + "    " + rest[cut + 1:]
    return lines + [rest]


# Constants

def handle_type(category):
    match = re.fullmatch(r"handle \((\w+)\)", category)
    return match.group(1) if match else None


def integers(constants):
    """The names and values of the constants that are integers and no handles."""
    for name, value, category in constants:
        if category == "limit" and name.startswith("MPI_MAX_"):
            # A string of Fortran has no null character at its end (section 19.3.9).
            yield name, str(int(value) - 1)
        elif not handle_type(category) and "sentinel (" not in category and category != "fortran status":
            if category != "alias" and name != "MPI_DISPLACEMENT_CURRENT":
                yield name, value


def handles(constants):
    """The names of predefined handles, their values and types."""
    known = {}
    for name, value, category in constants:
        if handle_type(category):
            known[name] = str(int(value, 16)), handle_type(category)
        elif category == "alias":
            known[name] = known[value]
    return [(name, *pair) for name, pair in known.items()]


def attribute_functions(constants):
    return [name for name, _, category in constants if category.startswith("callback sentinel")]


# Interfaces

def interface_old(form, prefix, pointer=False):
    """The interface of a procedure in module mpi."""
    name = prefix + form.c_name + ("_cptr" if pointer else "")
    shown = form.shown()
    names = [p.name for p in shown] + (["ierror"] if form.has_code() else [])
    kind = "FUNCTION" if form.is_function() else "SUBROUTINE"
    lines = [f"{kind} {name}({', '.join(names)})", "    IMPORT"]
    for p in shown:
        lines += [f"    {text}" for text in p.declare_old(pointer, form.unchecked())]
    if form.has_code():
        lines.append("    INTEGER :: ierror")
    lines += result_type(form, name)
    return lines + [f"END {kind}"]


def result_type(form, name):
    if not form.is_function():
        return []
    kind = "DOUBLE PRECISION" if form.function.result == "double" else "INTEGER(KIND=MPI_ADDRESS_KIND)"
    return [f"    {kind} :: {name}"]


def interface_f08(form, prefix):
    name = prefix + form.specific()
    shown = form.shown()
    names = [p.name for p in shown] + (["ierror"] if form.has_code() else [])
    kind = "FUNCTION" if form.is_function() else "SUBROUTINE"
    lines = [f"{kind} {name}({', '.join(names)})", "    IMPORT"]
    for p in shown:
        lines += [f"    {text}" for text in p.declare_f08(form)]
    if form.has_code():
        lines.append("    INTEGER, OPTIONAL, INTENT(OUT) :: ierror")
    lines += result_type(form, name)
    return lines + [f"END {kind}"]


def generic(name, bodies):
    """An interface block; without a name the procedures have their own."""
    lines = [f"INTERFACE {name}".rstrip()]
    lines += [f"    {line}" for body in bodies for line in body]
    return lines + ["END INTERFACE"]


def by_function(forms):
    """The forms of each function, as a dictionary from shape to form."""
    functions = {}
    for form in forms:
        functions.setdefault(form.function.name, {})[form.shape] = form
    return functions.items()


def interfaces_mpi(forms):
    lines, plain = [], []
    for name, shapes in by_function(forms):
        form = shapes["old"]
        for prefix in ("", "P"):
            if "cptr" in form.notes:
                lines += generic(prefix + name, [interface_old(form, prefix), interface_old(form, prefix, True)])
            else:
                plain.append(interface_old(form, prefix))
    return lines + generic("", plain)


def interfaces_f08(forms):
    lines = []
    for name, shapes in by_function(forms):
        if "f08" not in shapes:
            continue
        plain, large = shapes["f08"], shapes.get("large")
        # If nothing tells the forms apart, the large one has a name of its own.
        together = large and plain.signature() != large.signature() and "procedure" not in plain.signature()
        for prefix in ("", "P"):
            bodies = [interface_f08(plain, prefix)]
            if together:
                bodies.append(interface_f08(large, prefix))
            lines += generic(prefix + name, bodies)
            if large and not together:
                lines += generic(prefix + large.c_name, [interface_f08(large, prefix)])
    return lines


# Files

def fill(template, **parts):
    text = (HERE / template).read_text()
    for name, lines in parts.items():
        match = re.search(rf"^( *)@{name}@\n", text, re.M)
        shown = [w for line in lines for w in wrapped(line, match.group(1))]
        text = text.replace(match.group(0), "".join(line + "\n" for line in shown))
    return text


def include_file(constants):
    """mpif.h, in fixed and in free form."""
    lines = []
    for name, value in list(integers(constants)) + [(name, value) for name, value, _ in handles(constants)]:
        lines += [f"INTEGER {name}", f"PARAMETER ({name}={value})"]
    lines += [f"EXTERNAL {name}" for name in attribute_functions(constants)]
    return fill("mpif.h.in", constants=lines)


def constants_module(constants):
    kinds = sorted({kind for _, _, kind in handles(constants)})
    types, equal, unequal, procedures = [], [], [], []
    for kind in kinds:
        types += [f"TYPE, BIND(C) :: {kind}", "    INTEGER :: MPI_VAL", f"END TYPE {kind}"]
        for sign, word, names in (("==", "equal", equal), ("/=", "unequal", unequal)):
            name = f"{kind}_{word}"
            names.append(f"MODULE PROCEDURE {name}")
            procedures += [f"ELEMENTAL FUNCTION {name}(a, b) RESULT(answer)", f"    TYPE({kind}), INTENT(IN) :: a, b",
                           "    LOGICAL :: answer", f"    answer = a%MPI_VAL {sign} b%MPI_VAL",
                           f"END FUNCTION {name}"]
    kinds_of_sizeof = [("INTEGER", kind) for kind in (1, 2, 4, 8, 16)] + \
        [(word, kind) for word in ("REAL", "COMPLEX") for kind in (4, 8, 10, 16)] + \
        [("LOGICAL", kind) for kind in (1, 2, 4, 8, 16)] + [("CHARACTER", 1)]
    sizes, hidden = [], []
    for word, kind in kinds_of_sizeof:
        name = f"sizeof_{word.lower()}{kind}"
        sizes.append(f"MODULE PROCEDURE {name}")
        hidden.append(f"PRIVATE :: {name}")
        procedures += [f"SUBROUTINE {name}(x, size, ierror)", f"    {word}(KIND={kind}), INTENT(IN) :: x(..)",
                       "    INTEGER, INTENT(OUT) :: size", "    INTEGER, OPTIONAL, INTENT(OUT) :: ierror",
                       "    size = STORAGE_SIZE(x) / 8", "    IF (PRESENT(ierror)) ierror = MPI_SUCCESS",
                       f"END SUBROUTINE {name}"]
    return fill("constants.f90.in", types=types, equal=equal, unequal=unequal, sizes=sizes, hidden=hidden, procedures=procedures,
                constants=[f"INTEGER, PARAMETER :: {name} = {value}" for name, value in integers(constants)])


def mpi_module(forms, constants):
    return fill("mpi.f90.in", interfaces=interfaces_mpi(forms),
                constants=[f"INTEGER, PARAMETER :: {name} = {value}" for name, value, _ in handles(constants)],
                functions=[f"EXTERNAL :: {name}" for name in attribute_functions(constants)])


def mpi_f08_module(forms, constants):
    procedures = []
    for kind, argument in (("Comm", "MPI_Comm"), ("Type", "MPI_Datatype"), ("Win", "MPI_Win")):
        for word in ("NULL_COPY", "DUP"):
            copied = word == "DUP"
            name = f"MPI_{kind.upper()}_{word}_FN"
            procedures += [
                f"SUBROUTINE {name}(object, keyval, extra_state, value_in, value_out, flag, ierror)",
                f"    TYPE({argument}) :: object", "    INTEGER :: keyval, ierror",
                "    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out", "    LOGICAL :: flag",
                f"    flag = .{'TRUE' if copied else 'FALSE'}.", *(["    value_out = value_in"] if copied else []),
                "    ierror = MPI_SUCCESS", f"END SUBROUTINE {name}"]
        name = f"MPI_{kind.upper()}_NULL_DELETE_FN"
        procedures += [
            f"SUBROUTINE {name}(object, keyval, value, extra_state, ierror)", f"    TYPE({argument}) :: object",
            "    INTEGER :: keyval, ierror", "    INTEGER(KIND=MPI_ADDRESS_KIND) :: value, extra_state",
            "    ierror = MPI_SUCCESS", f"END SUBROUTINE {name}"]
    return fill("mpi_f08.f90.in", interfaces=interfaces_f08(forms), procedures=procedures,
                constants=[f"TYPE({kind}), PARAMETER :: {name} = {kind}({value})"
                           for name, value, kind in handles(constants)])
