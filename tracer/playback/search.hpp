// Search: a user's query for a trace, such as "task=3 call=brecv dur>1ms", "msg 3->7 bytes>1M",
// "marker".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "tracer/analysis/session.hpp"

namespace poe::trace {

class Search {
  public:
    // A UserError quotes the word that was not understood.
    static Result<Search> parse(std::string_view text);

    // Returns the next match that begins after a moment, or the last one before it: the time at
    // which it begins, and its task. Replays a section between two keyframes only if the index
    // shows that it may contain a match.
    struct Hit {
        Time at{0};
        TaskId task = 0;
    };
    std::optional<Hit> find(Session& session, Time from, bool forward) const;

  private:
    enum class What : std::uint8_t { kCall, kMessage, kMarker };
    class Watch;
    // True if a message from `from` to `to` is between the tasks of the query.
    bool is_between(TaskId from, TaskId to) const;
    bool may_be_in(const Ended& sums, const Definitions& definitions) const;

    What what_ = What::kCall;
    std::optional<TaskId> task_, from_, to_;
    bool both_ways_ = false;  // from_ and to_ may be exchanged
    std::string call_;
    std::optional<std::uint32_t> type_;
    Time longer_{-1};
    Time shorter_ = kFarthest;
    double more_ = -1;
    double less_ = 1e300;
};

}  // namespace poe::trace
