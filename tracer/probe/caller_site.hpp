// Where the program has made the call of MPI that this thread is in, if a library lies between the
// program and libmpi_abi.so.1 that stands for it, as libmpich.so.12 does. Otherwise the return
// address of the entry point is the place in the program. Only traces and check mode read it.
#pragma once

namespace poe {

// Set by the library in between at the begin of each call, and null in a process without such a
// library. A variable of C, because the compiler would otherwise call a function for each access
// from another library.
extern __thread const void* caller_site __attribute__((tls_model("initial-exec")));

}  // namespace poe
