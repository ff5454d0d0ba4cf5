// Reads what the threads of a task of our own library wait for, if several of them may call
// (MPI_THREAD_MULTIPLE).
#pragma once

#include "base/segment/segment_layout.hpp"
#include "partition_manager/job/observed_evidence.hpp"

namespace poe::pm {

// Reads from the process of the slot; never blocks. The evidence is known if, at one moment during
// the call, each thread of the process either waited in a call of the library or slept until
// another thread of the process wakes it, and nothing had happened since these waits were noted.
// Each wait then has its call and what it waits for. The task may have written anything, so the
// amount that is read is bounded, and every value is checked. Precondition: slot.thread_waits is
// not 0.
ObservedEvidence read_waiting_threads(const TaskSlot& slot);

}  // namespace poe::pm
