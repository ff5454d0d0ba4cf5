! Module mpl: explicit interfaces and constants of the message-passing library, so that the compiler
! checks calls. Programs may also leave it out and call MP_BSEND and so on as external subroutines:
! the names are the same. See mpproto.h for what the calls do. After an error mperrno holds NNN of
! "0032-NNN".
!
! A message may be of any type, kind and rank; its length is in bytes. What a non-blocking call is
! given (message, source, type) is used until the message has ended: it must have the attribute
! asynchronous (or target, or save), so that the compiler neither copies nor forgets it.
module mpl
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    private :: c_int

    integer, parameter :: dontcare = -1
    integer, parameter :: allmsg = -2
    integer, parameter :: nulltask = -3
    integer, parameter :: allgrp = 0
    integer, parameter :: stdio_unordered = -1
    integer, parameter :: stdio_ordered = -2

    integer(c_int), bind(c, name='mperrno') :: mperrno

    interface
        subroutine mp_environ(numtask, taskid)
            integer, intent(out) :: numtask, taskid
        end subroutine mp_environ

        subroutine mp_task_query(nbuf, nelem, qtype)
            integer, intent(out) :: nbuf(*)
            integer, intent(in) :: nelem, qtype
        end subroutine mp_task_query

        subroutine mp_task_set(nbuf, stype)
            integer, intent(in) :: nbuf, stype
        end subroutine mp_task_set

        subroutine mp_stopall(errcode)
            integer, intent(in) :: errcode
        end subroutine mp_stopall

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

        subroutine mp_bsendrecv(outmsg, outlen, dest, type, inmsg, inlen, source, nbytes)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            integer, intent(in) :: outlen, dest, type
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: inlen
            integer, intent(inout) :: source
            integer, intent(out) :: nbytes
        end subroutine mp_bsendrecv

        ! blknum blocks of blklen bytes, offset bytes from the start of one to that of the next.
        subroutine mp_bvsend(outmsg, blklen, offset, blknum, dest, type)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            integer, intent(in) :: blklen, offset, blknum, dest, type
        end subroutine mp_bvsend

        subroutine mp_bvrecv(inmsg, blklen, offset, blknum, source, type, nbytes)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: blklen, offset, blknum
            integer, intent(inout) :: source, type
            integer, intent(out) :: nbytes
        end subroutine mp_bvrecv

        subroutine mp_pack(inbuf, outbuf, blklen, offset, blknum)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inbuf
            type(*), dimension(*), intent(in) :: inbuf
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outbuf
            type(*), dimension(*) :: outbuf
            integer, intent(in) :: blklen, offset, blknum
        end subroutine mp_pack

        subroutine mp_unpack(inbuf, outbuf, blklen, offset, blknum)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inbuf
            type(*), dimension(*), intent(in) :: inbuf
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outbuf
            type(*), dimension(*) :: outbuf
            integer, intent(in) :: blklen, offset, blknum
        end subroutine mp_unpack

        subroutine mp_send(outmsg, msglen, dest, type, msgid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            integer, intent(in) :: msglen, dest, type
            integer, intent(out) :: msgid
        end subroutine mp_send

        subroutine mp_recv(inmsg, msglen, source, type, msgid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: msglen
            integer, intent(inout), asynchronous :: source, type
            integer, intent(out) :: msgid
        end subroutine mp_recv

        ! handler is called with the id of the message when it has come.
        subroutine mp_rcvncall(inmsg, msglen, source, type, msgid, handler)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: msglen
            integer, intent(inout), asynchronous :: source, type
            integer, intent(out) :: msgid
            interface
                subroutine handler(msgid)
                    integer, intent(inout) :: msgid
                end subroutine handler
            end interface
        end subroutine mp_rcvncall

        subroutine mp_lockrnc(newval, oldval)
            integer, intent(in) :: newval
            integer, intent(out) :: oldval
        end subroutine mp_lockrnc

        ! nbytes: the bytes of a message that has ended, -1 under way, -2 no such message.
        subroutine mp_status(msgid, nbytes)
            integer, intent(in) :: msgid
            integer, intent(out) :: nbytes
        end subroutine mp_status

        subroutine mp_wait(msgid, nbytes)
            integer, intent(inout) :: msgid
            integer, intent(out) :: nbytes
        end subroutine mp_wait

        subroutine mp_probe(source, type, nbytes)
            integer, intent(inout) :: source, type
            integer, intent(out) :: nbytes
        end subroutine mp_probe

        subroutine mp_sync(gid)
            integer, intent(in) :: gid
        end subroutine mp_sync

        subroutine mp_flush(option)
            integer, intent(in) :: option
        end subroutine mp_flush

        subroutine mp_stdout_mode(mode)
            integer, intent(in) :: mode
        end subroutine mp_stdout_mode

        ! rc: what the C function answers.
        subroutine mp_queryintr(rc)
            integer, intent(out) :: rc
        end subroutine mp_queryintr

        subroutine mp_enableintr(rc)
            integer, intent(out) :: rc
        end subroutine mp_enableintr

        subroutine mp_disableintr(rc)
            integer, intent(out) :: rc
        end subroutine mp_disableintr

        subroutine mp_queryintrdelay(rc)
            integer, intent(out) :: rc
        end subroutine mp_queryintrdelay

        subroutine mp_setintrdelay(delay, rc)
            integer, intent(in) :: delay
            integer, intent(out) :: rc
        end subroutine mp_setintrdelay

        ! The marker array (mp_marker.h): lights, text, progress.
        subroutine mp_marker(light, color, string)
            integer, intent(in) :: light, color
            character(len=*), intent(in) :: string
        end subroutine mp_marker

        subroutine mp_nlights(lights)
            integer, intent(out) :: lights
        end subroutine mp_nlights

        subroutine mp_progress(done, total)
            integer, intent(in) :: done, total
        end subroutine mp_progress
    end interface
end module mpl
