"""The predefined handles of MPICH's binary interface, for generate_foreign_abi.py."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# The number of a kind of handles in MPICH's handles.
NUMBERS = {"Comm": 1, "Datatype": 3, "Errhandler": 5, "File": 4, "Group": 2, "Info": 7, "Message": 11, "Op": 6,
           "Request": 11, "Session": 14, "Win": 8}
# Also the functions and variables that are written by hand (extensions.cpp, private_names.cpp).
EXPORTED = ("MPI_*", "PMPI_*", "MPIX_*", "PMPIX_*", "MPII_*", "MPIR_*")


def other_names(name):
    """Further names under which the function MPI_<name> is exported."""
    return ()


def predefined_slot(value):
    return value & 0x7f | value >> 30 << 7


def tables(constants, values, kinds):
    out = {}
    for kind in kinds:
        handle = f"MPI_{kind}"
        slots = {}
        for name, ours, category in constants:
            if category != f"handle ({handle})" or name not in values or kind == "File":
                continue
            bits = values[name] & 0xffffffff
            slot = predefined_slot(bits)
            if slot in slots:
                sys.exit(f"constants.tsv: {name} has the slot of {slots[slot][2]}")
            slots[slot] = (bits, int(ours, 0), name)
            out[int(ours, 0)] = bits
        if kind == "File":
            continue
        null = values[f"MPI_{kind.upper()}_NULL"] & 0xffffffff
        for name, ours, category in constants:
            if category == f"handle ({handle})":
                out.setdefault(int(ours, 0), null)
        yield (f"template <>\ninline constexpr std::uint32_t kNull<{handle}> = {null:#x};\n"
               f"template <>\ninline constexpr std::array<Slot, kSlots> kPredefined<{handle}> = slots({{\n"
               + "\n".join(f"    {{{bits:#x}, {ours:#x}}},  // {name}" for bits, ours, name in slots.values()) + "\n});")
    yield "inline constexpr auto kPredefinedOut = [] {\n    std::array<int, kFirstAddress> table{};\n" + "\n".join(
        f"    table[{ours:#x}] = static_cast<int>({bits:#x}u);" for ours, bits in sorted(out.items())
    ) + "\n    return table;\n}();"


def outputs(constants, values, kinds):
    bits = ", ".join(f"{NUMBERS[kind]}u << 26" for kind in kinds)
    yield "predefined.hpp", (HERE / "predefined.hpp.in").read_text().replace("@kinds@", bits).replace(
        "@predefined@", "\n".join(tables(constants, values, kinds)))
