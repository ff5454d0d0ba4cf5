// NameTable: what the tasks of a job have published, on all its nodes. It is poe's: a name that one
// node knows is of no use to a task of another. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "partition_manager/job/published_names.hpp"

namespace poe::pm {

// Bounded, whatever tasks ask: so many names, so many bytes of them, so many that wait.
class NameTable {
  public:
    static constexpr std::size_t kMostNames = 1U << 16;
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    static constexpr std::size_t kMostWaiting = 1U << 16;

    // The answers that can be given now: to the asker, unless it waits, and to those for whom this
    // has ended the waiting. Names are published all or none, and belong to who was first.
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
