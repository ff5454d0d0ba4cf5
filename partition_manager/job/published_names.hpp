// Names that tasks publish for each other (MPI_Publish_name, PMIx_Publish), as they travel: what is
// asked of poe, which has the table of the whole job (name_table.hpp), and what it answers. Apart
// from messages.hpp because the protocols that tasks speak know these and no other message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace poe::pm {

// Who has asked, so that the answer finds the way back.
struct ReplyTo {
    std::string job;  // poe fills it in, who knows from whom a message comes
    NodeIndex node = 0;
    std::uint32_t request = 0;  // the asker's own number
};

// Requests of that number and above are of PMI-1 tasks: this, and the task. Those below are of the
// PMIx server.
inline constexpr std::uint32_t kPmi1Requests = std::uint32_t{1} << 31;

struct NamedValue {
    std::string name;
    std::string value;
    std::string by;  // the task, in the words of its protocol
};

struct NameRequest {
    enum class What : std::uint8_t { kPublish, kWithdraw, kLookUp };
    ReplyTo asker;
    What what = What::kLookUp;
    bool once = false;   // publish: the first who looks it up takes it away
    bool waits = false;  // look up: to be answered when all of them are there
    std::string by;      // publish, withdraw
    // To publish; otherwise their names only. To withdraw none: all that `by` has published.
    std::vector<NamedValue> names;
};

struct NameReply {
    enum class Status : std::uint8_t { kDone, kSome, kUnknown, kTaken, kTooMany };
    ReplyTo asker;
    Status status = Status::kDone;
    std::vector<NamedValue> names;  // that were looked up and are there
};

}  // namespace poe::pm
