// NameTable: the names that the tasks of a job have published, on all its nodes. poe owns it,
// because names that only one node knows would be useless to tasks on other nodes. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "partition_manager/job/published_names.hpp"

namespace poe::pm {

// The number of names, their size and the number of waiting requests are bounded, whatever tasks
// request.
class NameTable {
  public:
    static constexpr std::size_t kMostNames = 1U << 16;
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    static constexpr std::size_t kMostWaiting = 1U << 16;

    // Returns the answers that can be given now: to the requester, unless it waits, and to waiting
    // requests that can now be answered. Names are published all or none. The first publisher of a
    // name keeps it.
    std::vector<NameReply> ask(NameRequest question);

  private:
    struct Entry {
        NamedValue value;
        bool once = false;
    };

    NameReply::Status publish(NameRequest& question);
    NameReply::Status withdraw(const NameRequest& question);
    bool all_there(const NameRequest& question) const;
    NameReply look_up(const NameRequest& question);
    void forget(std::map<std::string, Entry>::iterator at);

    std::map<std::string, Entry> entries_;
    std::size_t bytes_ = 0;
    std::vector<NameRequest> waiting_;  // the oldest first
};

}  // namespace poe::pm
