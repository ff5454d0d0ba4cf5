// Plays a trace on the terminal.
#pragma once

#include <functional>
#include <memory>

#include "tracer/playback/look.hpp"

namespace poe::trace {

struct WatchOptions {
    bool colors = true;
    bool unicode = true;
    // Lets the session have what has come to the trace; false when nothing has. May be empty: it
    // is over.
    std::function<bool(Session&)> follow;
    // A sentence that the user should read, or nothing; asked each second. May be empty.
    std::function<std::string()> news;
};

// Blocks until the user quits (0) or a signal ends it (its number). Throws Error when there is no
// terminal that can show a screen.
int watch(std::unique_ptr<Session> session, Look look, const WatchOptions& options);

}  // namespace poe::trace
