! hello: every task greets task 0, which prints the greetings in the order in which they come.
!
! Build:  mpfort hello.f90 -o hello
! Run:    poe ./hello -procs 4        or just   ./hello -procs 4
program hello
    use mpl
    implicit none
    integer, parameter :: greeting = 1
    integer :: numtask, taskid, source, type, nbytes, i
    character(len=80) :: line

    call mp_environ(numtask, taskid)
    if (taskid /= 0) then
        write (line, '(a,i0,a,i0)') 'hello from task ', taskid, ' of ', numtask
        call mp_bsend(line, len_trim(line), 0, greeting)
    else
        print '(a,i0)', 'hello from task 0 of ', numtask
        do i = 1, numtask - 1
            source = dontcare
            type = greeting
            line = ' '
            mperrno = 0
            call mp_brecv(line, len(line), source, type, nbytes)
            if (mperrno /= 0) call mp_stopall(1)
            print '(a)', line(1:nbytes)
        end do
    end if
    call mp_sync(allgrp)
end program hello
