"""The functions of MPI as Fortran sees them: what mpi/table/functions.tsv says, with the additions of parameters.tsv.

A Form is a function in one of three shapes: "old" (mpif.h and module mpi), "f08" (module mpi_f08), and "large" (module
mpi_f08 with large counts). Each of its parameters knows how module mpi and module mpi_f08 declare it."""

import fnmatch
import pathlib
import re
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "table"))
sys.dont_write_bytecode = True

import generate as table  # noqa: E402  (generate.py of mpi/table)

HANDLES = {f"MPI_{name}" for name in ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op",
                                      "Request", "Session", "Win")}
KINDS = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Offset": "MPI_OFFSET_KIND", "MPI_Count": "MPI_COUNT_KIND"}
BUFFERS = ("choice", "whole", "same", "location", "detached")


@dataclass
class Parameter:
    """One argument. `kind` is from parameters.tsv, or follows from the C type; `more` is what the row adds."""
    c_type: str      # without const, and without the brackets of an array
    name: str        # in Fortran
    constant: bool
    array: bool
    kind: str
    more: str

    def is_choice(self):
        return self.kind in BUFFERS

    def has_length(self):
        return self.kind in ("text", "trimmed", "text_out", "texts", "text_rows")

    # Fortran

    def shape(self):
        if self.c_type == "ranges":
            return "(3, *)"
        return "(*)" if self.array or self.kind in ("statuses", "indices", "weights", "error_codes") else ""

    def intent(self, form):
        asynchronous = ", ASYNCHRONOUS" if form.request and (self.is_choice() or self.array) else ""
        if self.kind in ("status", "statuses") and not self.constant:
            return ""
        if self.is_choice():
            return (", INTENT(IN)" if self.constant else "") + asynchronous
        if self.kind == "inout" or self.kind == "array" and not self.constant and self.c_type == "MPI_Request":
            return ", INTENT(INOUT)"
        if self.writes():
            # An array may be a sentinel such as MPI_UNWEIGHTED, and only a part of it may be set.
            if self.shape():
                return ""
            return ", INTENT(INOUT)" if form.reads_too(self) else ", INTENT(OUT)"
        return ", INTENT(IN)" + (asynchronous if self.array else "")

    def writes(self):
        return self.kind in ("text_out", "index", "indices", "pointer") or not self.constant and (
            "*" in self.c_type or self.array or self.kind == "out") and self.kind not in (
                "state", "old_state", "texts", "text_rows", "text", "read")

    def type_old(self):
        """The type in mpif.h and module mpi."""
        if self.kind in ("status", "statuses"):
            return "INTEGER"
        if self.kind in ("text", "trimmed", "text_out"):
            return "CHARACTER(LEN=*)"
        if self.kind in ("texts", "text_rows"):
            return "CHARACTER(LEN=*)"
        if self.kind == "logical":
            return "LOGICAL"
        if self.kind in ("pointer", "state", "state_out"):
            return "INTEGER(KIND=MPI_ADDRESS_KIND)"
        base = self.c_type.replace("*", "").strip()
        return f"INTEGER(KIND={KINDS[base]})" if base in KINDS else "INTEGER"

    def declare_old(self, pointer=False, unchecked=False):
        if unchecked and not self.is_choice() and (self.array or self.base() == "MPI_Datatype"):
            return [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {self.name}", *self.declare_old()]
        if self.kind == "procedure":
            return [f"EXTERNAL {self.name}"]
        if self.is_choice():
            return [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {self.name}", f"TYPE(*), DIMENSION(*) :: {self.name}"]
        shape = {"status": "(MPI_STATUS_SIZE)", "statuses": "(MPI_STATUS_SIZE, *)", "texts": "(*)"}.get(
            self.kind, self.shape())
        if self.kind == "text_rows":
            shape = "(count, *)"
        kind = "TYPE(C_PTR)" if pointer and self.kind == "pointer" else self.type_old()
        return [f"{kind} :: {self.name}{shape}"]

    def declare_f08(self, form):
        if self.kind == "procedure":
            return [f"PROCEDURE({self.c_type.replace(' *', '')}) :: {self.name}"]
        if self.kind == "detached" or self.kind == "pointer":
            return [f"TYPE(C_PTR), INTENT(OUT) :: {self.name}"]
        if self.is_choice():
            return [f"TYPE(*), DIMENSION(..){self.intent(form)} :: {self.name}"]
        kind, shape = self.type_old(), self.shape()
        if self.kind in ("status", "statuses"):
            kind = "TYPE(MPI_Status)"
        elif self.base() in HANDLES:
            kind = f"TYPE({self.base()})"
        if self.kind == "texts":
            shape = "(*)"
        elif self.kind == "text_rows":
            shape = "(count, *)"
        return [f"{kind}{self.intent(form)} :: {self.name}{shape}"]

    def base(self):
        return self.c_type.replace("*", "").strip()


@dataclass
class Form:
    function: table.Function
    shape: str         # "old", "f08" or "large"
    parameters: list   # those of Fortran, and those that are absent there
    notes: dict        # the kinds of the rows about the function, with what they add
    request: bool = False

    def __post_init__(self):
        self.request = any(p.base() == "MPI_Request" and p.kind == "out" for p in self.parameters)

    @property
    def c_name(self):
        return self.function.form_name(self.shape == "large")

    def shown(self):
        return [p for p in self.parameters if p.kind != "absent"]

    def has_code(self):
        return self.function.result == "int" and "plain" not in self.notes

    def is_function(self):
        return self.function.result != "int"

    def has_choice(self):
        return any(p.is_choice() and p.kind != "detached" for p in self.parameters)

    def unchecked(self):
        """True for MPI_Alltoallv and the like. In module mpi their counts, displacements and datatypes are not
        checked, because programs for modules without these interfaces pass scalars with MPI_IN_PLACE."""
        return self.has_choice() and any(p.name in ("displs", "sdispls") for p in self.parameters)

    def persistent(self):
        return self.function.name.endswith("_init")

    def reads_too(self, parameter):
        """Parameters of the type int * that the function also reads."""
        return parameter.name in ("position", "buflen", "pset_len") or (
            self.c_name.endswith("_free_keyval") and parameter.name.endswith("keyval"))

    def specific(self):
        """The name of the specific procedure in module mpi_f08 (section 19.1.5)."""
        return self.c_name + ("_f08ts" if self.has_choice() else "_f08")

    def signature(self):
        """What tells procedures of one generic name apart: the types and ranks of their arguments."""
        parts = []
        for p in self.shown():
            if p.kind == "procedure":
                parts.append("procedure")
                continue
            kind = p.declare_f08(self)[0].partition(",")[0].partition(" ::")[0]
            # The three kinds have the same value.
            kind = re.sub(r"MPI_\w+_KIND", "long", kind)
            parts.append(kind + (p.shape() and "()"))
        return parts


def read_rows():
    rows = []
    for _, row in table.read_rows(HERE / "parameters.tsv"):
        function, parameter, kind = row
        rows.append((function, parameter, *(kind.split(" ", 1) + [""])[:2]))
    return rows


class Reader:
    def __init__(self):
        self.rows = read_rows()
        self.used = set()

    def find(self, function, parameter, wanted=None):
        """The last row about it, as (kind, more)."""
        found = None
        for row in self.rows:
            if row[1] != parameter or (row[2] == "name") != (wanted == "name"):
                continue
            if fnmatch.fnmatchcase(function, row[0]):
                found = row[2:4]
                self.used.add(row)
        return found

    def notes(self, function):
        found = {row for row in self.rows if row[1] == "-" and row[0] == function}
        self.used |= found
        return {row[2]: row[3] for row in found}

    def parameter(self, function, p, large):
        c_type = p.wide if large else p.narrow
        constant = c_type.startswith("const ")
        c_type = c_type.removeprefix("const ")
        array = bool(p.array)
        kind, more = self.find(function.name, p.name) or (None, "")
        name = (self.find(function.name, p.name, "name") or (None, p.name))[1]
        base = c_type.replace("*", "").strip()
        if p.array == "[][3]":
            c_type, constant = "ranges", True
        if base == "MPI_Status":
            kind = "statuses" if p.name.startswith("array_of") else "status"
        elif base == "char" and kind != "absent":
            if array and "*" in c_type:
                kind = "text_rows" if c_type.count("*") > 1 else "texts"
            elif constant:
                kind, array = kind or "text", False
            elif not constant:
                kind = "text_out"
        elif kind is None and base == "void":
            kind = "choice"
        elif base.endswith("_function") or base.endswith("_function_c"):
            kind = "procedure"
        elif kind == "array" and base not in HANDLES:
            kind = None
        elif kind is None and base in HANDLES and "*" in c_type:
            kind = "out"
        return Parameter(c_type, name, constant, array, kind or "plain", more)

    def forms(self, function):
        """All forms of a function; none if Fortran has no such function."""
        notes = self.notes(function.name)
        if function.category in ("tools", "handle-int") or "none" in notes:
            return []
        shapes = ["old"]
        if function.note != "deprecated MPI-2.0":
            shapes += ["f08"] + (["large"] if True in function.forms else [])
        made = []
        for shape in shapes:
            large = shape == "large"
            parameters = [self.parameter(function, p, large) for p in function.parameters
                          if p.name != "..." and (p.narrow or large)]
            made.append(Form(function, shape, parameters, notes))
        return made

    def check_all_used(self):
        unused = [row for row in self.rows if row not in self.used]
        if unused:
            sys.exit(f"parameters.tsv: no function has the parameter of {unused[0]}")


def read_forms():
    """All forms, sorted by the names of their functions."""
    functions = table.read_functions(HERE.parent / "table" / "functions.tsv")
    reader = Reader()
    forms = [form for f in sorted(functions, key=lambda f: f.name) for form in reader.forms(f)]
    reader.check_all_used()
    return forms


def read_constants():
    rows = table.read_rows(HERE.parent / "table" / "constants.tsv")
    return [row for _, row in rows if not row[0].startswith("MPI_T_")]
