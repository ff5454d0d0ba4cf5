/* The threads that an MPI library starts for itself in MPI_Init. They never act for the program, so they do not count
   when poe asks whether a task can continue. Needs libc only. */
#pragma once

enum { kMostLibraryThreads = 16 };

/* Call directly before MPI_Init and directly after it, in the same thread. */
void poe_before_init(void);
/* Stores the ids of the threads that have come since then, if the program cannot have started them because its other
   threads slept. Returns their number; 0: there are none, or it is not known whose they are. */
unsigned poe_library_threads(int threads[kMostLibraryThreads]);
