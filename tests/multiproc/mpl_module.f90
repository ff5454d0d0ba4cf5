! Every MP_ call through the module's interfaces.
module handled_message
    implicit none
    integer, asynchronous, save :: handled_number
    integer, save :: handled = 0, handled_bytes, handled_id
end module handled_message

program mpl_module
    use mpl
    use handled_message
    implicit none
    integer, parameter :: any = dontcare, all_messages = allmsg, everybody = allgrp
    integer, parameter :: in_order = stdio_ordered
    integer :: gid, gsize, rank, collid, lengths(64), members(64)
    double precision :: give(6), got(6)
    external :: d_vadd, i_vadd, later_one
    integer :: k, sizes(2)
    integer, asynchronous, save :: given(100), got_all(100)
    integer :: tasks, me, left, right, source, type, nbytes, i, id, old
    integer :: facts(4), numbers(100), more_numbers(100)
    double precision :: field(6, 6), row(6)
    character(len=40) :: line, other
    real, asynchronous, save :: reals(1000), blocks(1000, 3)
    integer, asynchronous, save :: sources(3), types(3)
    integer :: ids(3), sends(3)

    call mp_environ(tasks, me)
    call mp_task_query(facts, 4, 1)
    call check(facts(1) == tasks .and. facts(2) == me, 'task query 1')
    call mp_task_query(facts, 4, 3)
    call check(facts(1) == any .and. facts(2) == all_messages .and. facts(4) == everybody, &
               'task query 3')
    right = mod(me + 1, tasks)
    left = mod(me + tasks - 1, tasks)

    ! Blocking, each type of data.
    write (line, '(a,i0)') 'hello from ', me
    call mp_bsend(line, len_trim(line), right, 1)
    source = left
    type = 1
    other = ' '
    call mp_brecv(other, len(other), source, type, nbytes)
    write (line, '(a,i0)') 'hello from ', left
    call check(other == line .and. nbytes == len_trim(line), 'characters')

    numbers = [(me * 1000 + i, i = 1, 100)]
    call mp_bsend(numbers, 400, right, 2)
    source = any
    type = any
    call mp_brecv(more_numbers, 400, source, type, nbytes)
    call check(source == left .and. type == 2 .and. nbytes == 400, 'wildcards')
    call check(all(more_numbers == [(left * 1000 + i, i = 1, 100)]), 'integers')

    field = me + 0.5d0
    source = left
    call mp_bsendrecv(field, 8 * 36, right, 3, row, 8 * 6, source, nbytes)
    call check(nbytes == 48 .and. all(row == left + 0.5d0), 'sendrecv, cut')

    ! A row of a matrix is strided in Fortran.
    do i = 1, 6
        field(2, i) = 10 * me + i
    end do
    call mp_bvsend(field(2, 1), 8, 48, 6, right, 4)
    field = 0
    source = left
    type = 4
    call mp_bvrecv(field(5, 1), 8, 48, 6, source, type, nbytes)
    call check(nbytes == 48, 'bytes of a row')
    call check(all(field(5, :) == [(10 * left + i, i = 1, 6)]), 'a row')
    call check(sum(field) == sum(field(5, :)), 'beside the row')
    call mp_pack(field(5, 1), row, 8, 48, 6)
    call check(all(row == field(5, :)), 'pack')
    field = 0
    call mp_unpack(row, field(1, 1), 8, 48, 6)
    call check(all(field(1, :) == row) .and. sum(field) == sum(row), 'unpack')

    ! Not blocking: posted first, then sent, found by probe, waited for in each way.
    do i = 1, 3
        sources(i) = left
        types(i) = 10 + i
        call mp_recv(blocks(1, i), 4000, sources(i), types(i), ids(i))
    end do
    reals = me + 0.25
    do i = 1, 3
        call mp_send(reals, 4000, right, 10 + i, sends(i))
    end do
    call mp_wait(ids(2), nbytes)
    call check(nbytes == 4000 .and. sources(2) == left .and. types(2) == 12, 'wait')
    call check(all(blocks(:, 2) == left + 0.25), 'reals')
    do
        call mp_status(ids(3), nbytes)
        if (nbytes /= -1) exit
    end do
    call check(nbytes == 4000, 'status')
    call mp_status(123456, nbytes)
    call check(nbytes == -2, 'status of no message')
    id = all_messages
    call mp_wait(id, nbytes)
    call check(all(blocks(:, 1) == left + 0.25) .and. all(blocks(:, 3) == left + 0.25), 'wait for all')
    call mp_send(numbers, 8, right, 20, id)
    id = any
    call mp_wait(id, nbytes)
    call check(nbytes == 8, 'wait for any')
    do
        source = any
        type = 20
        call mp_probe(source, type, nbytes)
        if (nbytes /= -1) exit
    end do
    call check(source == left .and. nbytes == 8, 'probe')
    call mp_brecv(more_numbers, nbytes, source, type, nbytes)

    ! A handler, held back for a while.
    call mp_sync(everybody)
    call mp_lockrnc(1, old)
    call check(old == 0, 'lock')
    handled = 0
    sources(1) = any
    types(1) = 30
    call mp_rcvncall(handled_number, 4, sources(1), types(1), handled_id, on_message)
    call mp_bsend(me, 4, right, 30)
    call mp_sync(everybody)
    call check(handled == 0, 'a locked handler')
    call mp_lockrnc(0, old)
    call check(old == 1, 'unlock')
    do while (handled == 0)
        call mp_status(123456, nbytes)
    end do
    call check(handled == 1 .and. handled_number == left .and. handled_bytes == 4, 'handler')

    ! Groups and collective calls.
    call mp_partition(everybody, -me, 3, gid)
    call mp_getsize(gsize, gid)
    call mp_getrank(rank, me, gid)
    call mp_getmembers(members, gid)
    call check(gsize == tasks .and. rank == tasks - 1 - me, 'partition')
    call check(all(members(1:tasks) == [(tasks - i, i = 1, tasks)]), 'members')
    give = me
    call mp_combine(give, got, 48, d_vadd, gid)
    call check(all(got == tasks * (tasks - 1) / 2), 'combine')
    call mp_reduce(give, got, 48, 0, later_one, gid)
    if (me == 0) call check(all(got == 0), 'a function of the program, in rank order')
    give = me
    call mp_bcast(give, 48, tasks - 1, gid)
    call check(all(give == tasks - 1), 'bcast')
    lengths = 4
    call mp_concatv(me, numbers, lengths, everybody)
    call check(all(numbers(1:tasks) == [(i - 1, i = 1, tasks)]), 'concatv')
    call mp_isync(gid, collid)
    call mp_collwait(collid)
    call mp_freegroup(gid)
    include 'mpl_collective_calls.inc'

    ! Too long is an error when the task says so.
    call mp_task_set(1, 1)
    call mp_task_query(facts, 1, 5)
    call check(facts(1) == 1, 'task query 5')
    call mp_task_set(0, 1)

    call mp_setintrdelay(12, old)
    call check(old == 0, 'set delay')
    call mp_queryintrdelay(old)
    call check(old == 12, 'delay')
    call mp_enableintr(old)
    call mp_queryintr(old)
    call check(old == 1, 'interrupts')
    call mp_disableintr(old)
    call mp_queryintr(old)
    call check(old == 0, 'no interrupts')

    print '(a,i0)', 'first of task ', me
    call mp_stdout_mode(in_order)
    print '(a,i0)', 'second of task ', me
    call mp_flush(1)
    call mp_sync(everybody)
    print '(a,i0)', 'last of task ', me
    if (me == 0 .and. command_argument_count() > 0) call mp_stopall(5)
    call mp_sync(everybody)
contains
    subroutine on_message(msgid)
        integer, intent(inout) :: msgid
        call mp_wait(msgid, handled_bytes)
        handled = handled + 1
    end subroutine on_message

    subroutine check(right_now, what)
        logical, intent(in) :: right_now
        character(len=*), intent(in) :: what
        if (right_now) return
        write (0, '(a,i0,2a)') 'task ', me, ': wrong: ', what
        call mp_stopall(1)
    end subroutine check
end program mpl_module

! op: what the higher rank gives.
subroutine later_one(one, two, out, bytes)
    implicit none
    integer, intent(in) :: bytes
    double precision, intent(in) :: one(bytes / 8), two(bytes / 8)
    double precision, intent(out) :: out(bytes / 8)

    out = two
end subroutine later_one
