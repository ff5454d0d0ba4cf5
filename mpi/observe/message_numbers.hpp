// MessageNumbers: the number of each message of a foreign library among those with the same
// communicator, tag, sender and receiver. Sender and receiver count alike, because such messages do
// not overtake each other (MPI 5.0, section 3.5), so the number says which receive belongs to a
// send.
//
// A receive that names its source and tag takes its number when it is posted, one with a wildcard
// when it has ended. If both are pending at the same time, their numbers may be exchanged.
#pragma once

#include <cstdint>

#include "base/contexts.hpp"
#include "base/types.hpp"
#include "mpi/observe/flat_table.hpp"

namespace poe::observe {

struct MessageLine {
    ContextId context = 0;
    TaskId peer = 0;
    std::int32_t tag = 0;

    bool operator==(const MessageLine&) const = default;
    std::uint64_t hash() const noexcept {
        return mixed((std::uint64_t{context} << 32 | static_cast<std::uint32_t>(tag)) +
                     static_cast<std::uint64_t>(peer) * 0x9e3779b97f4a7c15u);
    }
};

// For one direction. Not for several threads.
class MessageNumbers {
  public:
    explicit MessageNumbers(ObservedArray* raw = nullptr) : lines_(raw) {}

    // Memory is bounded: beyond so many different lines, messages of new ones have number 0.
    static constexpr std::size_t kMostLines = std::size_t{1} << 19;

    // The number of the next message, from 1 on.
    std::uint32_t next(const MessageLine& line) {
        if (last_ == nullptr || !(line == last_line_)) {
            last_ = lines_.find(line);
            last_line_ = line;
            if (last_ == nullptr) {
                if (lines_.size() >= kMostLines) return 0;
                lines_.add(line, 0);
                last_ = lines_.find(line);
            }
        }
        return ++*last_;
    }

    // A receive that had taken this number was cancelled. The next one gets it, unless others have
    // taken later numbers meanwhile.
    void give_back(const MessageLine& line, std::uint32_t number) {
        std::uint32_t* const count = lines_.find(line);
        if (count != nullptr && *count == number) --*count;
    }

  private:
    static_assert(FlatTable<MessageLine, std::uint32_t>::kEntryBytes == sizeof(ObservedLine));
    FlatTable<MessageLine, std::uint32_t> lines_;
    MessageLine last_line_;
    std::uint32_t* last_ = nullptr;  // its count
};

}  // namespace poe::observe
