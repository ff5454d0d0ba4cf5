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

        ! Collective calls. func is a subroutine (one, two, out, len): d_vadd, or one of the program.
        subroutine mp_bcast(buf, len, root, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
            type(*), dimension(*) :: buf
            integer, intent(in) :: len
            integer, intent(in) :: root
            integer, intent(in) :: gid
        end subroutine mp_bcast

        subroutine mp_reduce(outmsg, inmsg, len, root, func, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: len
            integer, intent(in) :: root
            external :: func
            integer, intent(in) :: gid
        end subroutine mp_reduce

        subroutine mp_combine(outmsg, inmsg, len, func, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: len
            external :: func
            integer, intent(in) :: gid
        end subroutine mp_combine

        subroutine mp_prefix(outmsg, inmsg, len, func, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: len
            external :: func
            integer, intent(in) :: gid
        end subroutine mp_prefix

        subroutine mp_scatter(outmsg, inmsg, blklen, root, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: blklen
            integer, intent(in) :: root
            integer, intent(in) :: gid
        end subroutine mp_scatter

        subroutine mp_gather(outmsg, inmsg, blklen, root, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: blklen
            integer, intent(in) :: root
            integer, intent(in) :: gid
        end subroutine mp_gather

        subroutine mp_concat(outmsg, inmsg, blklen, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: blklen
            integer, intent(in) :: gid
        end subroutine mp_concat

        subroutine mp_index(outmsg, inmsg, blklen, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: blklen
            integer, intent(in) :: gid
        end subroutine mp_index

        subroutine mp_shift(outmsg, inmsg, len, step, flag, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: len
            integer, intent(in) :: step
            integer, intent(in) :: flag
            integer, intent(in) :: gid
        end subroutine mp_shift

        subroutine mp_sync(gid)
            integer, intent(in) :: gid
        end subroutine mp_sync

        subroutine mp_scatterv(outmsg, inmsg, blklens, root, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: blklens(*)
            integer, intent(in) :: root
            integer, intent(in) :: gid
        end subroutine mp_scatterv

        subroutine mp_gatherv(outmsg, inmsg, blklens, root, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: blklens(*)
            integer, intent(in) :: root
            integer, intent(in) :: gid
        end subroutine mp_gatherv

        subroutine mp_concatv(outmsg, inmsg, blklens, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: blklens(*)
            integer, intent(in) :: gid
        end subroutine mp_concatv

        subroutine mp_indexv(outmsg, outlens, inmsg, inlens, gid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in) :: outmsg
            integer, intent(in) :: outlens(*)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*) :: inmsg
            integer, intent(in) :: inlens(*)
            integer, intent(in) :: gid
        end subroutine mp_indexv

        subroutine mp_ibcast(buf, len, root, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
            type(*), dimension(*), asynchronous :: buf
            integer, intent(in) :: len
            integer, intent(in) :: root
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_ibcast

        subroutine mp_ireduce(outmsg, inmsg, len, root, func, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: len
            integer, intent(in) :: root
            external :: func
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_ireduce

        subroutine mp_icombine(outmsg, inmsg, len, func, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: len
            external :: func
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_icombine

        subroutine mp_iprefix(outmsg, inmsg, len, func, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: len
            external :: func
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_iprefix

        subroutine mp_iscatter(outmsg, inmsg, blklen, root, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: blklen
            integer, intent(in) :: root
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_iscatter

        subroutine mp_igather(outmsg, inmsg, blklen, root, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: blklen
            integer, intent(in) :: root
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_igather

        subroutine mp_iconcat(outmsg, inmsg, blklen, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: blklen
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_iconcat

        subroutine mp_iindex(outmsg, inmsg, blklen, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: blklen
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_iindex

        subroutine mp_ishift(outmsg, inmsg, len, step, flag, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: len
            integer, intent(in) :: step
            integer, intent(in) :: flag
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_ishift

        subroutine mp_isync(gid, collid)
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_isync

        subroutine mp_iscatterv(outmsg, inmsg, blklens, root, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: blklens(*)
            integer, intent(in) :: root
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_iscatterv

        subroutine mp_igatherv(outmsg, inmsg, blklens, root, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: blklens(*)
            integer, intent(in) :: root
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_igatherv

        subroutine mp_iconcatv(outmsg, inmsg, blklens, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: blklens(*)
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_iconcatv

        subroutine mp_iindexv(outmsg, outlens, inmsg, inlens, gid, collid)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: outmsg
            type(*), dimension(*), intent(in), asynchronous :: outmsg
            integer, intent(in) :: outlens(*)
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: inmsg
            type(*), dimension(*), asynchronous :: inmsg
            integer, intent(in) :: inlens(*)
            integer, intent(in) :: gid
            integer, intent(out) :: collid
        end subroutine mp_iindexv

        subroutine mp_collwait(collid)
            integer, intent(inout) :: collid
        end subroutine mp_collwait

        subroutine mp_colltest(collid, done)
            integer, intent(in) :: collid
            integer, intent(out) :: done
        end subroutine mp_colltest

        subroutine mp_group(gsize, glist, label, gid)
            integer, intent(in) :: gsize
            integer, intent(in) :: glist(*)
            integer, intent(in) :: label
            integer, intent(out) :: gid
        end subroutine mp_group

        subroutine mp_partition(parent_gid, key, label, gid)
            integer, intent(in) :: parent_gid
            integer, intent(in) :: key
            integer, intent(in) :: label
            integer, intent(out) :: gid
        end subroutine mp_partition

        subroutine mp_freegroup(gid)
            integer, intent(in) :: gid
        end subroutine mp_freegroup

        subroutine mp_getsize(gsize, gid)
            integer, intent(out) :: gsize
            integer, intent(in) :: gid
        end subroutine mp_getsize

        subroutine mp_getmembers(glist, gid)
            integer, intent(out) :: glist(*)
            integer, intent(in) :: gid
        end subroutine mp_getmembers

        subroutine mp_getrank(rank, taskid, gid)
            integer, intent(out) :: rank
            integer, intent(in) :: taskid
            integer, intent(in) :: gid
        end subroutine mp_getrank

        subroutine mp_gettaskid(rank, taskid, gid)
            integer, intent(in) :: rank
            integer, intent(out) :: taskid
            integer, intent(in) :: gid
        end subroutine mp_gettaskid

        subroutine mp_getlabel(label, gid)
            integer, intent(out) :: label
            integer, intent(in) :: gid
        end subroutine mp_getlabel

        subroutine mp_form2dgrid(gid, x, y, row, column)
            integer, intent(in) :: gid
            integer, intent(in) :: x
            integer, intent(in) :: y
            integer, intent(out) :: row
            integer, intent(out) :: column
        end subroutine mp_form2dgrid

        subroutine mp_formgrid(gid, ndims, dims, gids)
            integer, intent(in) :: gid
            integer, intent(in) :: ndims
            integer, intent(in) :: dims(*)
            integer, intent(out) :: gids(*)
        end subroutine mp_formgrid

        subroutine mp_formsubcube(gid, mask, subcube)
            integer, intent(in) :: gid
            integer, intent(in) :: mask
            integer, intent(out) :: subcube
        end subroutine mp_formsubcube

        subroutine mp_rank2grid(rank, ndims, dims, coords)
            integer, intent(in) :: rank
            integer, intent(in) :: ndims
            integer, intent(in) :: dims(*)
            integer, intent(out) :: coords(*)
        end subroutine mp_rank2grid

        subroutine mp_grid2rank(coords, ndims, dims, rank)
            integer, intent(in) :: coords(*)
            integer, intent(in) :: ndims
            integer, intent(in) :: dims(*)
            integer, intent(out) :: rank
        end subroutine mp_grid2rank

        subroutine mp_rank2gray(rank, gray)
            integer, intent(in) :: rank
            integer, intent(out) :: gray
        end subroutine mp_rank2gray

        subroutine mp_gray2rank(gray, rank)
            integer, intent(in) :: gray
            integer, intent(out) :: rank
        end subroutine mp_gray2rank

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

        ! The trace (VT_trc.h). rc: 0, or -1 when nothing is recorded.
        subroutine vt_trc_start(flag, rc)
            integer, intent(in) :: flag
            integer, intent(out) :: rc
        end subroutine vt_trc_start

        subroutine vt_trc_stop(rc)
            integer, intent(out) :: rc
        end subroutine vt_trc_stop

        subroutine vt_region_begin(name, rc)
            character(len=*), intent(in) :: name
            integer, intent(out) :: rc
        end subroutine vt_region_begin

        subroutine vt_region_end(name, rc)
            character(len=*), intent(in) :: name
            integer, intent(out) :: rc
        end subroutine vt_region_end

        subroutine vt_counter(name, value, rc)
            character(len=*), intent(in) :: name
            double precision, intent(in) :: value
            integer, intent(out) :: rc
        end subroutine vt_counter
    end interface
end module mpl
