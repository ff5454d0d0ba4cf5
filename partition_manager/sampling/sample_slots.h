/* The memory that a node's tasks and pmd-sample share if call stacks are taken by timer signals: a file with slots for
   copied stacks. The signal's handler in a task (timer_signal.c) fills slots; pmd-sample (signal_samples.hpp) empties them.
   Both are installed together and are of one version.

   Invariant: the state of a slot says which side may touch the rest of it.
     state                   meaning                              who changes it
     0                       free                                 a task claims it by compare and exchange
     thread << 2 | kFilling  this thread fills it                 the thread, by a store with release; pmd-sample, if the
                                                                  thread has died
     thread << 2 | kFilled   pmd-sample may read it               pmd-sample, by a store with release
   A task never waits: if it finds no free slot, it counts a lost sample. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    kPoeSampleFilling = 1,
    kPoeSampleFilled = 2,
    kPoeSampleStack = 32 << 10, /* bytes of a stack that are copied at most */
    kPoeSampleRegisters = 17,   /* by their DWARF numbers */
    kPoeSlotsPerProcessor =
        32, /* only threads that run fill slots, and pmd-sample empties them 50 times per second */
};

enum PoeSampleKind {
    kPoeSampleTaken = 0,
    kPoeSampleExecuted = 1, /* the process has begun to run a program */
    kPoeSampleForked = 2,   /* `parent` has made the process, which runs the same program */
};

struct PoeSampleSlot {
    uint64_t state;
    uint64_t time;  /* CLOCK_MONOTONIC, ns */
    uint32_t kind;  /* enum PoeSampleKind */
    uint32_t count; /* periods of processor time since the last sample of the thread */
    int32_t task;
    int32_t process;
    int32_t thread;
    int32_t parent;
    uint64_t registers[kPoeSampleRegisters];
    uint64_t stack_bytes; /* from the stack pointer on */
    unsigned char stack[kPoeSampleStack];
};

struct PoeSampleSlots {
    uint64_t slots;
    uint64_t period; /* ns of processor time between samples of a thread */
    uint64_t next;   /* counts claims, so that tasks begin their search at different slots */
    uint64_t lost;   /* samples that found no free slot */
    uint64_t spent;  /* time in handlers, ns */
    /* The slots follow. */
};

static inline struct PoeSampleSlot* poe_sample_slot(struct PoeSampleSlots* head, uint64_t number) {
    return (struct PoeSampleSlot*)(head + 1) + number;
}

/* The names of the variables with the path of the file and the number of the task. */
#define POE_SAMPLE_SLOTS "POE_SAMPLE_SLOTS"
#define POE_SAMPLE_TASK "POE_SAMPLE_TASK"

#ifdef __cplusplus
}
#endif
