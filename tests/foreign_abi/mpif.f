C     A program with mpif.h: wildcards and statuses, MPI_IN_PLACE and MPI_BOTTOM, a derived type, an operation, an
C     attribute, an error handler, and functions that MPI 3.0 has removed.
      subroutine largest(invec, inoutvec, n, datatype)
      implicit none
      include 'mpif.h'
      integer n, datatype, i
      integer invec(n), inoutvec(n)
      do i = 1, n
         if (invec(i) .gt. inoutvec(i)) inoutvec(i) = invec(i)
      end do
      if (datatype .ne. MPI_INTEGER) inoutvec(1) = -1
      end

      subroutine handler(comm, code)
      implicit none
      include 'mpif.h'
      integer comm, code, cls, ierr, seen
      common /seen/ seen
      call MPI_Error_class(code, cls, ierr)
      if (comm .eq. MPI_COMM_WORLD .and. cls .eq. MPI_ERR_RANK)
     &     seen = seen + 1
      end

      program main
      implicit none
      include 'mpif.h'
      external largest, handler
      integer rank, all, ierr, failed, i, n, next, before, op, request
      integer status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
      integer requests(2), values(4), got(4), kind, handle, seen
      integer(kind=MPI_ADDRESS_KIND) place, val, extra
      integer keyval, lengths(2), places(2), types(2)
      logical flag
      common /seen/ seen
      failed = 0
      seen = 0
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, all, ierr)
      next = mod(rank + 1, all)
      before = mod(rank + all - 1, all)
      do i = 1, 4
         values(i) = 10 * rank + i
      end do
      call MPI_Irecv(got, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG,
     &     MPI_COMM_WORLD, request, ierr)
      call MPI_Send(values, 3, MPI_INTEGER, next, 5, MPI_COMM_WORLD,
     &     ierr)
      call MPI_Wait(request, status, ierr)
      call MPI_Get_count(status, MPI_INTEGER, n, ierr)
      if (status(MPI_SOURCE) .ne. before) failed = failed + 1
      if (status(MPI_TAG) .ne. 5 .or. n .ne. 3) failed = failed + 1
      if (got(3) .ne. 10 * before + 3) failed = failed + 1
      if (request .ne. MPI_REQUEST_NULL) failed = failed + 1
      call MPI_Irecv(got, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD,
     &     requests(1), ierr)
      call MPI_Isend(values, 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD,
     &     requests(2), ierr)
      call MPI_Waitall(2, requests, statuses, ierr)
      if (statuses(MPI_SOURCE, 1) .ne. before) failed = failed + 1
      call MPI_Recv(got, 1, MPI_INTEGER, MPI_PROC_NULL, 1,
     &     MPI_COMM_WORLD, status, ierr)
      if (status(MPI_SOURCE) .ne. MPI_PROC_NULL) failed = failed + 1
      call MPI_Send(values, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD,
     &     ierr)
      call MPI_Recv(got, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD,
     &     MPI_STATUS_IGNORE, ierr)

      got(1) = rank
      call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      if (got(1) .ne. all * (all - 1) / 2) failed = failed + 1
      call MPI_Op_create(largest, .true., op, ierr)
      call MPI_Allreduce(rank, got, 1, MPI_INTEGER, op, MPI_COMM_WORLD,
     &     ierr)
      if (got(1) .ne. all - 1) failed = failed + 1
      call MPI_Op_free(op, ierr)

C     Absolute addresses, from MPI_BOTTOM.
      call MPI_Address(values(2), places(1), ierr)
      call MPI_Get_address(values(2), place, ierr)
      lengths(1) = 2
      call MPI_Type_create_hindexed(1, lengths, place, MPI_INTEGER,
     &     kind, ierr)
      call MPI_Type_commit(kind, ierr)
      call MPI_Sendrecv(MPI_BOTTOM, 1, kind, rank, 3, got, 4,
     &     MPI_INTEGER, rank, 3, MPI_COMM_WORLD, status, ierr)
      if (got(1) .ne. values(2) .or. got(2) .ne. values(3))
     &     failed = failed + 1
      call MPI_Type_free(kind, ierr)
      lengths(1) = 1
      lengths(2) = 1
      places(1) = 0
      places(2) = 24
      types(1) = MPI_DOUBLE_PRECISION
      types(2) = MPI_UB
      call MPI_Type_struct(2, lengths, places, types, kind, ierr)
      call MPI_Type_extent(kind, n, ierr)
      if (n .ne. 24) failed = failed + 1
      call MPI_Type_free(kind, ierr)

      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, val, flag,
     &     ierr)
      if (.not. flag .or. val .lt. 32767) failed = failed + 1
      extra = 0
      call MPI_Comm_create_keyval(MPI_COMM_DUP_FN,
     &     MPI_COMM_NULL_DELETE_FN, keyval, extra, ierr)
      val = -77
      call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, val, ierr)
      call MPI_Comm_dup(MPI_COMM_WORLD, n, ierr)
      val = 0
      call MPI_Comm_get_attr(n, keyval, val, flag, ierr)
      if (.not. flag .or. val .ne. -77) failed = failed + 1
      call MPI_Comm_free(n, ierr)
      call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierr)
      call MPI_Comm_free_keyval(keyval, ierr)

      call MPI_Comm_create_errhandler(handler, handle, ierr)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handle, ierr)
      call MPI_Send(values, 1, MPI_INTEGER, all, 0, MPI_COMM_WORLD,
     &     ierr)
      if (seen .ne. 1 .or. ierr .eq. MPI_SUCCESS) failed = failed + 1
      call MPI_Errhandler_free(handle, ierr)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD,
     &     MPI_ERRORS_ARE_FATAL, ierr)
      call MPI_Finalize(ierr)
      write (*, 10) rank, all, failed
 10   format('task ', I0, ' of ', I0, ': ', I0, ' checks failed')
      if (failed .ne. 0) stop 1
      end
