! A tool in Fortran: it replaces the entry points of one function and calls those of the profiling interface.
subroutine MPI_Barrier(comm, ierror)
    implicit none
    integer :: comm, ierror, barriers
    common /tool_data/ barriers
    barriers = barriers + 1
    call PMPI_Barrier(comm, ierror)
end subroutine

subroutine MPI_Barrier_f08(comm, ierror)
    implicit none
    integer :: comm, barriers
    integer, optional :: ierror
    interface
        subroutine PMPI_Barrier_f08(comm, ierror)
            integer :: comm
            integer, optional :: ierror
        end subroutine
    end interface
    common /tool_data/ barriers
    barriers = barriers + 1
    call PMPI_Barrier_f08(comm, ierror)
end subroutine
