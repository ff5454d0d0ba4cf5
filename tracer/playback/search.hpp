// Search: what somebody looks for in a trace, as typed: "task=3 call=brecv dur>1ms",
// "msg 3->7 bytes>1M", "marker".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "tracer/analysis/session.hpp"

namespace poe::trace {

class Search {
  public:
    // A UserError names the word that was not understood.
    static Result<Search> parse(std::string_view text);

    // The next one that begins after a moment, or the last before it; the moment it begins, and the
    // task. Replays what is between two keyframes only where the index says that there may be one.
    struct Hit {
        Time at{0};
        TaskId task = 0;
    };
    std::optional<Hit> find(Session& session, Time from, bool forward) const;

  private:
    enum class What : std::uint8_t { kCall, kMessage, kMarker };
    class Watch;
    // True if a message from `from` to `to` is between the tasks that are searched for.
    bool is_between(TaskId from, TaskId to) const;
    bool may_be_in(const Ended& sums, const Definitions& definitions) const;

    What what_ = What::kCall;
    std::optional<TaskId> task_, from_, to_;
    bool both_ways_ = false;  // from_ and to_ may change places
    std::string call_;
    std::optional<std::uint32_t> type_;
    Time longer_{-1};
    Time shorter_ = kFarthest;
    double more_ = -1;
    double less_ = 1e300;
};

}  // namespace poe::trace
