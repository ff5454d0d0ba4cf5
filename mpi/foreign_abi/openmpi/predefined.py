"""The predefined handles of Open MPI's binary interface, for generate_foreign_abi.py."""

import pathlib

import generate as table

HERE = pathlib.Path(__file__).resolve().parent
# The size of the objects of each kind. A program that is linked without position-independent code has copies of them.
SIZES = {"Comm": 512, "Datatype": 512, "Errhandler": 1024, "File": 1536, "Group": 256, "Info": 256, "Message": 256,
         "Op": 2048, "Request": 256, "Session": 256, "Win": 512}
# Also the functions and variables that are written by hand.
EXPORTED = ("MPI_*", "PMPI_*", "MPIX_*", "PMPIX_*", "OMPI_*", "ompi_*", "mpi_*")


def other_names(name):
    """Further names under which the function MPI_<name> is exported: those of persistent collective calls before MPI 4."""
    point_to_point = ("Send", "Bsend", "Ssend", "Rsend", "Recv", "Psend", "Precv")
    persistent = name.endswith("_init") and not name.startswith(("T_", *point_to_point))
    return (f"MPIX_{name}", f"PMPIX_{name}") if persistent else ()


def read_objects(constants):
    """Each object as (kind, our handle, its name, its number in Fortran or None)."""
    ours = {name: (category.removeprefix("handle (MPI_").removesuffix(")"), int(value, 0))
            for name, value, category in constants if category.startswith("handle (MPI_")}
    objects = []
    for _, (name, symbol, number) in table.read_rows(HERE / "objects.tsv"):
        kind = name.partition("-")[0]
        handle = ours.get(name) or (kind, ours[f"MPI_{kind.upper()}_NULL"][1])
        objects.append((*handle, symbol, None if number == "-" else int(number)))
    return objects


def outputs(constants, values, kinds):
    objects = read_objects(constants)
    sizes = "\n".join(f"template <>\ninline constexpr std::size_t kObjectSize<MPI_{kind}> = {SIZES[kind]};"
                      for kind in kinds)
    declared = "\n".join(f"extern poe::mpi::foreign::PredefinedObject<MPI_{kind}> {symbol};"
                         for kind, _, symbol, _ in objects)
    yield "predefined.hpp", (HERE / "predefined.hpp.in").read_text().replace("@sizes@", sizes).replace("@objects@", declared)

    defined = "\n".join(
        f"PredefinedObject<MPI_{kind}> {symbol} = {{{{{ours:#x}, {-1 if number is None else number}, "
        f"poe::mpi::kKindOf<MPI_{kind}>}}, {{}}}};" for kind, ours, symbol, number in objects)
    # Several objects may stand for one handle of ours; the first one is its address. What does not exist in this
    # interface becomes the null handle of its kind.
    out = {}
    for kind, ours, symbol, _ in objects:
        out.setdefault(ours, symbol)
    for name, value, category in constants:
        kind = category.removeprefix("handle (MPI_").removesuffix(")")
        if category.startswith("handle (MPI_") and kind in kinds and kind != "Session":
            null = next(symbol for of, ours, symbol, _ in objects if ours == int(
                next(v for n, v, _ in constants if n == f"MPI_{kind.upper()}_NULL"), 0))
            out.setdefault(int(value, 0), null)
    session = next(int(v, 0) for n, v, _ in constants if n == "MPI_SESSION_NULL")
    out[session] = "poe_null_session"
    table_out = "\n".join(f"    table[{ours:#x}] = &{symbol};" for ours, symbol in sorted(out.items()))
    numbers = []
    for kind in kinds:
        of_kind = {number: symbol for k, _, symbol, number in objects if k == kind and number is not None}
        if of_kind:
            listed = ", ".join(f"&{of_kind[i]}" if i in of_kind else "nullptr" for i in range(max(of_kind) + 1))
            numbers.append(f"    of_kind(kKindOf<MPI_{kind}>) = {{{listed}}};")
    yield "predefined.cpp", (HERE / "predefined.cpp.in").read_text().replace("@objects@", defined).replace(
        "@out@", table_out).replace("@numbers@", "\n".join(numbers))
