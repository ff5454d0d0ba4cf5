"""Writes a small archive of OTF2 as another tool would, with python3-otf2: two ranks on a node, rank 1 waits in MPI_Recv
from 100 us to 550 us for a message that rank 0 sends at 400 us. Rank 0 has another thread, which does nothing; both ranks
tell a temperature. Argument: the folder to make."""

import sys

import otf2
from otf2.enums import GroupType, LocationType, Paradigm, RegionRole

with otf2.writer.open(sys.argv[1], timer_resolution=1_000_000) as trace:
    root = trace.definitions.system_tree_node("node0")
    send = trace.definitions.region("MPI_Send", paradigm=Paradigm.MPI, region_role=RegionRole.POINT2POINT)
    receive = trace.definitions.region("MPI_Recv", paradigm=Paradigm.MPI, region_role=RegionRole.POINT2POINT)
    main = trace.definitions.region("main", region_role=RegionRole.FUNCTION)
    locations = []
    for rank in range(2):
        group = trace.definitions.location_group(f"rank {rank}", system_tree_parent=root)
        locations.append(trace.definitions.location("master", type=LocationType.CPU_THREAD, group=group))
        if rank == 0:
            trace.definitions.location("helper", type=LocationType.CPU_THREAD, group=group)
    world = trace.definitions.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI,
                                    members=locations)
    ranks = trace.definitions.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=[0, 1])
    temperature = trace.definitions.metric("temperature", unit="C")
    comm = trace.definitions.comm("MPI_COMM_WORLD", group=ranks)
    writers = [trace.event_writer_from_location(location) for location in locations]
    for writer in writers:
        writer.enter(1000, main)
    writers[0].enter(1400, send)
    writers[0].mpi_send(1400, 1, comm, 7, 1024)
    writers[0].leave(1500, send)
    writers[1].enter(1100, receive)
    writers[1].mpi_recv(1550, 0, comm, 7, 1024)
    writers[1].leave(1550, receive)
    for writer in writers:
        writer.metric(1900, temperature, 40.5)
        writer.leave(2000, main)
