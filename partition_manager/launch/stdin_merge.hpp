// StdinMerge: how far standard input has come, over several readers (the tasks of this node, the
// daemons below): the slowest that still reads holds back the flow. Pure.
#pragma once

#include <map>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

class StdinMerge {
  public:
    // A reader that has said nothing yet; any number identifies it.
    void add(int reader) { readers_.emplace(reader, StdinProgress{}); }
    // It is gone, and will not read any more.
    void remove(int reader);
    void set(int reader, const StdinProgress& progress);

    StdinProgress all() const;

  private:
    std::map<int, StdinProgress> readers_;
};

}  // namespace poe::pm
