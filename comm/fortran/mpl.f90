! Module mpl: explicit interfaces and constants of the message-passing library, so that the compiler
! checks calls. Programs may also leave it out and call MP_BSEND and so on as external subroutines:
! the names are the same. See mpproto.h for what the calls do. After an error mperrno holds NNN of
! "0032-NNN".
module mpl
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    private :: c_int

    integer, parameter :: dontcare = -1
    integer, parameter :: allmsg = -2
    integer, parameter :: nulltask = -3
    integer, parameter :: allgrp = 0

    integer(c_int), bind(c, name='mperrno') :: mperrno

    interface
        subroutine mp_environ(numtask, taskid)
            integer, intent(out) :: numtask, taskid
        end subroutine mp_environ

        subroutine mp_task_query(nbuf, nelem, qtype)
            integer, intent(out) :: nbuf(*)
            integer, intent(in) :: nelem, qtype
        end subroutine mp_task_query

        subroutine mp_stopall(errcode)
            integer, intent(in) :: errcode
        end subroutine mp_stopall

        ! msglen, nbytes: bytes. The message may be of any type, kind and rank.
        subroutine mp_bsend(outmsg, msglen, dest, type)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            integer, intent(in) :: msglen, dest, type
        end subroutine mp_bsend

        ! source, type: dontcare or what is wanted; set to what came.
        subroutine mp_brecv(inmsg, msglen, source, type, nbytes)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: msglen
            integer, intent(inout) :: source, type
            integer, intent(out) :: nbytes
        end subroutine mp_brecv

        subroutine mp_sync(gid)
            integer, intent(in) :: gid
        end subroutine mp_sync
    end interface
end module mpl
