// NameTable: what the tasks of a job have published, on all its nodes. It is poe's: a name that one
// node knows is of no use to a task of another. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "partition_manager/job/names.hpp"

namespace poe::pm {

// Bounded, whatever tasks ask: so many names, so many bytes of them, so many that wait.
class NameTable {
  public:
    static constexpr std::size_t kMostNames = 1U << 16;
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    static constexpr std::size_t kMostWaiting = 1U << 16;

    // The answers that can be given now: to the asker, unless it waits, and to those for whom this
    // has ended the waiting. Names are published all or none, and belong to who was first.
    std::vector<TellNames> ask(AskNames question);

  private:
    struct Entry {
        NamedValue value;
        bool once = false;
    };

    TellNames::Status publish(AskNames& question);
    TellNames::Status withdraw(const AskNames& question);
    bool all_there(const AskNames& question) const;
    TellNames look_up(const AskNames& question);
    void forget(std::map<std::string, Entry>::iterator at);

    std::map<std::string, Entry> entries_;
    std::size_t bytes_ = 0;
    std::vector<AskNames> waiting_;  // the oldest first
};

}  // namespace poe::pm
