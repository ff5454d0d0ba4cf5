/* The interface between the interposer (interposer.c, in every process of a job) and the recorder
   (recorder_calls.cpp, loaded by the first call of MPI_Init). Both are installed together and are of one
   version. */
#pragma once

#include <stddef.h>

#include "mpi/observe/library_threads.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kMostArguments = 14, kKeptWords = 12 };

/* A call of the program, from its beginning to its end, on the stack of the interposer. */
struct PoeObservedCall {
    unsigned number;  /* of base/calls.hpp */
    const void* site; /* where the call returns to */
    /* Each argument as the caller passed it. If the argument is an int, the upper half of its word has
       no meaning. The recorder may replace an argument before the call is made. */
    struct PoeArguments {
        long words[kMostArguments];
    } arguments;
    /* For the recorder, from its beginning to its end. */
    unsigned long kept[kKeptWords];
    /* A status for calls in which the program asks for none. */
    unsigned long status[8];
};

/* What the interposer offers to the recorder. */
struct PoeInterposer {
    /* The function with this name in the program's MPI library; null if it has none. */
    void* (*find)(const char* name);
    /* The threads that the library has started for itself in MPI_Init. */
    unsigned library_threads_count;
    int library_threads[kMostLibraryThreads];
};

/* What the recorder does at the beginning and at the end of an outermost call of a function. */
struct PoeHooks {
    void (*before)(struct PoeObservedCall* call);
    void (*after)(struct PoeObservedCall* call, int result);
};
enum { kFirstNumber = 256, kNumbers = 1792 };

/* By number - kFirstNumber; both null if the recorder does not look at the function. */
struct PoeRecorder {
    struct PoeHooks hooks[kNumbers];
};

/* The only function of the recorder's library. Null: nothing is to be recorded. Does not fail; if the
   program cannot be observed, it has said why. */
const struct PoeRecorder* poe_start_recorder(const struct PoeInterposer* interposer);

#ifdef __cplusplus
}
#endif
