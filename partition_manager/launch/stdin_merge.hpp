// StdinMerge: merges the progress of standard input over several readers (this daemon's tasks, the
// daemons below). The slowest reader that still reads limits the flow. Pure.
#pragma once

#include <map>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

class StdinMerge {
  public:
    // Adds a reader that has not reported yet. Any number may identify it.
    void add(int reader) { readers_.emplace(reader, StdinProgress{}); }
    // The reader is gone and will not read any more.
    void remove(int reader);
    void set(int reader, const StdinProgress& progress);

    // delivered: the minimum of all readers that still want data (or the maximum if none does).
    // consumed: the maximum of all readers, in bytes.
    StdinProgress all() const;

  private:
    std::map<int, StdinProgress> readers_;
};

}  // namespace poe::pm
