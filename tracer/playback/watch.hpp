// Plays a trace on the terminal.
#pragma once

#include <functional>
#include <memory>

#include "tracer/playback/view_state.hpp"

namespace poe::trace {

struct WatchOptions {
    bool colors = true;
    bool unicode = true;
    // Extends the session by new data of the trace; returns false if there are none. Empty if the
    // trace does not grow any more.
    std::function<bool(Session&)> follow;
    // Returns a message for the user, or an empty string; called every second. May be empty.
    std::function<std::string()> news;
};

// Blocks until the user quits (returns 0) or a signal ends it (returns its number). Throws Error if
// there is no terminal that can show a screen.
int watch(std::unique_ptr<Session> session, ViewState look, const WatchOptions& options);

}  // namespace poe::trace
