! The check of the Fortran tests. An external procedure, so that it needs no interface of MPI.
subroutine check(condition, line)
    implicit none
    logical, intent(in) :: condition
    integer, intent(in) :: line
    integer :: ierror
    external :: MPI_Abort
    if (condition) return
    write (*, '(a, i0)') 'the check fails in line ', line
    flush (6)
    call MPI_Abort(257, 1, ierror)  ! 257 is MPI_COMM_WORLD
    error stop 1
end subroutine check
