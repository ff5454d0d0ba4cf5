// What keys do to a View. One table of keys, from which the help is made, too. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "markerarray/view.hpp"
#include "terminal/key.hpp"

namespace poe::markers {

// What is left to be done by whoever owns the terminal and the jobs.
enum class Command : std::uint8_t {
    kNone,
    kQuit,
    kRepaint,
    kNextJob,
    kListJobs,  // the list is wanted (Display::kJobs)
    kThisJob,   // that of the list which is selected
    kSignal,    // View::signal is to be sent to the job
    kSuspend
};

// Changes the view; `scene` is what was last drawn, `size` of what. `earliest` is as far back as
// the view may go.
Command press(View& view, const Key& key, const Scene& scene, Size size, Moment earliest);

// "key  what it does", for the help.
struct KeyHelp {
    std::string_view keys;
    std::string_view what;
};
const std::vector<KeyHelp>& key_help();

}  // namespace poe::markers
