// Names that tasks publish for each other (MPI_Publish_name, PMIx_Publish): the requests to poe,
// which owns the table of the whole job (name_table.hpp), and the answers. Separate from
// messages.hpp, because the protocols of tasks need these and no other messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

// Identifies the sender of a request, so that the answer reaches it.
struct ReplyTo {
    std::string job;  // set by poe, which knows where the message comes from
    NodeIndex node = 0;
    std::uint32_t request = 0;  // the sender's own number
    bool operator==(const ReplyTo&) const = default;
};

// Requests with this number or a larger one come from PMI-1 tasks: the number is this constant plus
// the task. Smaller numbers are used by the PMIx server.
inline constexpr std::uint32_t kPmi1Requests = std::uint32_t{1} << 31;

struct NamedValue {
    std::string name;
    std::string value;
    std::string by;  // the publishing task, in the format of its protocol
    bool operator==(const NamedValue&) const = default;
};

struct NameRequest {
    enum class What : std::uint8_t { kPublish, kWithdraw, kLookUp };
    ReplyTo asker;
    What what = What::kLookUp;
    bool once = false;   // publish: the first look-up removes the name
    bool waits = false;  // look up: answered when all names have been published
    std::string by;      // publish, withdraw: the task
    // To publish: names and values. Otherwise only the names matter. To withdraw with no names:
    // everything that `by` has published.
    std::vector<NamedValue> names;
    bool operator==(const NameRequest&) const = default;
};

struct NameReply {
    enum class Status : std::uint8_t { kDone, kSome, kUnknown, kTaken, kTooMany };
    ReplyTo asker;
    Status status = Status::kDone;
    std::vector<NamedValue> names;  // look up: the names that were found
    bool operator==(const NameReply&) const = default;
};

}  // namespace poe::pm
