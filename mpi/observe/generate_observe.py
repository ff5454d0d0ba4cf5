#!/usr/bin/env python3
"""Makes from mpi/table/functions.tsv what the observer of other MPI libraries needs:

  numbers.inc   for interposer.c: the numbers of the functions after which the recorder starts
  wrappers.inc  for interposer.c: a line per function that is interposed, with its number and number of arguments
  shapes.inc    for recorder_hooks.cpp: what each of these functions does, and which of its arguments says what

Usage: generate_observe.py OUTPUT_FOLDER.

Every function that may communicate is interposed, because a library may call its own public functions, and such inner
calls must not look like calls of the program. Functions that only look something up are left alone. A number is that of
base/calls.hpp."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "table"))
import generate  # noqa: E402

FIRST_NUMBER = 256  # kFirstMpiCall of base/calls.hpp

# Functions that do not communicate and change something that the observer keeps.
ALSO = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_set_name", "MPI_Pcontrol", "MPI_Type_free"}

# What a function does, by its name without "MPI_". What is not here follows from the category, or is kOther.
ACTIONS = {
    "Init": "kInit", "Init_thread": "kInit", "Finalize": "kFinalize", "Pcontrol": "kControl",
    "Comm_set_name": "kRename", "Type_free": "kFreeType",
    "Comm_free": "kFreeComm", "Comm_disconnect": "kFreeComm", "Comm_create_group": "kMakeCommOfGroup",
    "Probe": "kProbe", "Iprobe": "kPoll", "Mprobe": "kMatch", "Improbe": "kMatch",
    "Mrecv": "kReceiveMatched", "Imrecv": "kStartReceiveMatched",
    "Recv": "kReceive", "Irecv": "kStartReceive", "Recv_init": "kMakeReceive",
    "Sendrecv": "kExchange", "Sendrecv_replace": "kExchange",
    "Isendrecv": "kStartExchange", "Isendrecv_replace": "kStartExchange",
    "Start": "kStart", "Startall": "kStart",
    "Win_create": "kMakeWindow", "Win_create_dynamic": "kMakeWindow", "Win_allocate": "kMakeWindow",
    "Win_allocate_shared": "kMakeWindow", "Win_free": "kFreeWindow", "Win_set_name": "kRenameWindow",
    "Win_fence": "kFence", "Win_post": "kPostEpoch", "Win_start": "kStartEpoch",
    "Win_complete": "kCompleteEpoch", "Win_wait": "kWaitEpoch", "Win_test": "kWaitEpoch",
    "File_open": "kOpenFile", "File_close": "kCloseFile",
    "Request_free": "kFreeRequest", "Cancel": "kCancel", "Request_get_status": "kOther",
}
for mode in ("Send", "Bsend", "Ssend", "Rsend"):
    ACTIONS[mode] = "kSend"
    ACTIONS["I" + mode.lower()] = "kStartSend"
    ACTIONS[mode + "_init"] = "kMakeSend"
for name in ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"):
    ACTIONS[name] = "kComplete"

# Arguments by their names in the table, in the order of the members of CallShape.
MEMBERS = ["comm", "new_comm", "dest", "source", "root", "send_tag", "receive_tag", "send_count", "send_type",
           "receive_count", "receive_type", "send_counts", "receive_counts", "send_types", "receive_types", "send_buffer", "receive_buffer", "request", "requests", "requests_count",
           "flag", "index", "done_count", "indices", "status", "message", "group", "window", "file"]
NAMES = {
    "comm": "comm", "comm_old": "comm", "local_comm": "comm", "intercomm": "comm",
    "newcomm": "new_comm", "comm_cart": "new_comm", "comm_graph": "new_comm", "comm_dist_graph": "new_comm",
    "newintercomm": "new_comm", "newintracomm": "new_comm",
    "dest": "dest", "source": "source", "root": "root", "sendtag": "send_tag", "recvtag": "receive_tag",
    "sendcount": "send_count", "sendtype": "send_type", "recvcount": "receive_count", "recvtype": "receive_type",
    "sendcounts": "send_counts", "recvcounts": "receive_counts", "sendtypes": "send_types", "recvtypes": "receive_types",
    "sendbuf": "send_buffer", "recvbuf": "receive_buffer",
    "request": "request", "array_of_requests": "requests", "incount": "requests_count",
    "flag": "flag", "indx": "index", "outcount": "done_count", "array_of_indices": "indices",
    "status": "status", "array_of_statuses": "status", "message": "message", "op": None,
    "group": "group", "win": "window", "fh": "file",
}


ARRAYS = ("requests", "indices", "status", "send_counts", "receive_counts", "send_types", "receive_types")


def action_of(function):
    name = function.name.removeprefix("MPI_")
    if name in ACTIONS:
        return ACTIONS[name]
    if function.category in ("coll.blocking", "coll.neighbor"):
        return "kCollective"
    if function.category in ("coll.nonblocking", "coll.neighbor.nonblocking"):
        return "kStartCollective"
    if function.category in ("coll.persistent", "coll.neighbor.persistent"):
        return "kMakeCollective"
    if function.category == "io":
        if name.endswith("_end"):
            return "kEndCollectiveFile"
        # The other libraries carry out an operation in the call that begins it and whose name ends with "_begin".
        if generate.file_call_kind(name.lower()) == "kOther":
            return "kFile"
        return "kStartCollectiveFile" if name.startswith("File_i") else "kCollectiveFile"
    if function.category == "rma":
        return "kWindow"
    makes = any(NAMES.get(p.name) == "new_comm" for p in function.parameters)
    if makes and function.category in ("communicator", "topology"):
        return "kStartMakingComm" if name.startswith("Comm_idup") else "kMakeComm"
    return "kOther"


def places_of(function, large):
    """The position of each argument that the observer looks at, by the member of CallShape."""
    places = {}
    parameters = [p for p in function.parameters if p.narrow or large]
    action = action_of(function)
    sends = action in ("kSend", "kStartSend", "kMakeSend")
    for at, parameter in enumerate(parameters):
        name = parameter.name
        # MPI_Intercomm_create and some others return a communicator under a name that is an argument elsewhere.
        if parameter.narrow == "MPI_Comm *":
            member = "comm" if action == "kFreeComm" else "new_comm"
        elif name in ("tag", "count", "datatype"):
            side = "send" if sends or action in ("kCollective", "kStartCollective", "kMakeCollective") else "receive"
            member = side + {"tag": "_tag", "count": "_count", "datatype": "_type"}[name]
            if name == "count" and any(p.name == "array_of_requests" for p in parameters):
                member = "requests_count"
            if function.name == "MPI_Startall" and name == "count":
                member = "requests_count"
        else:
            member = NAMES.get(name)
        if member and member not in places and not (parameter.array and member not in ARRAYS):
            places[member] = at
    # One count and one type serve both directions.
    if action in ("kExchange", "kStartExchange") and "send_count" not in places:
        for part in ("count", "type"):
            places["send_" + part] = places["receive_" + part]
    return places


def amount_of(function):
    """What a collective function's bytes are, if its count and type do not say it alone."""
    name = function.name.removeprefix("MPI_").removesuffix("_init").lower()
    name = name[1:] if name.startswith(("ineighbor", "iscatter", "ireduce_scatter", "ialltoall")) else name
    if name.startswith("neighbor_") and name.endswith(("v", "w")) and "alltoall" in name:
        return "kNeighbors"
    if name in ("alltoallv", "alltoallw"):
        return "kMembers"
    if name in ("scatter", "scatterv"):
        return "kReceived"
    if name == "reduce_scatter":
        return "kReducedMembers"
    if name == "reduce_scatter_block":
        return "kReducedBlocks"
    return None


def interposed(functions):
    for number, (function, large) in enumerate(generate.forms_of(functions), FIRST_NUMBER):
        if (function.context == "runtime" or function.name in ALSO) and function.result == "int":
            yield number, function, large


def arity(function, large):
    # MPI_Pcontrol has a variable list of arguments: those that a caller passes in registers are handed on.
    if function.name == "MPI_Pcontrol":
        return 6
    return len([p for p in function.parameters if p.narrow or large])


def main():
    functions = generate.read_functions(HERE.parent / "table" / "functions.tsv")
    folder = pathlib.Path(sys.argv[1])
    rows = list(interposed(functions))
    generate.write(folder / "wrappers.inc", "/* The functions that are interposed. Generated by generate_observe.py. */\n" + "".join(
        f"WRAPPER_{arity(function, large)}({number}, {function.form_name(large)})\n" for number, function, large in rows))
    generate.write(folder / "numbers.inc", "/* Generated by generate_observe.py. */\n" + "".join(
        f"NUMBER(kNumberOf{function.name[4:].title().replace('_', '')}, {number})\n"
        for number, function, _ in rows if action_of(function) == "kInit"))
    lines = []
    for number, function, large in rows:
        places = places_of(function, large)
        members = "".join(f", .{member} = {places[member]}" for member in MEMBERS if member in places)
        members += f", .amount = Amount::{amount_of(function)}" if amount_of(function) else ""
        members += ", .wide_counts = true" if large else ""
        lines.append(f"SHAPE({number}, .action = Action::{action_of(function)}{members})\n")
    generate.write(folder / "shapes.inc", "// What each call does. Generated by generate_observe.py.\n" + "".join(lines))


if __name__ == "__main__":
    main()
