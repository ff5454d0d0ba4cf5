// Selects the display of markerarray/ for a job on poe's own terminal, and its descriptor.
#pragma once

#include <memory>
#include <string>

#include "markerarray/panel.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// Returns the display of -pmarray or -progress for the job with this id and size. Null if neither
// was requested, or if there is no suitable terminal. Sets this program's locale.
std::unique_ptr<markers::Panel> make_panel(const Options& options, const std::string& job,
                                           std::size_t tasks);

}  // namespace poe::cli
