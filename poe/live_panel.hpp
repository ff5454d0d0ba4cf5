// Which display of markerarray/ a job gets on poe's own terminal, and on which descriptor.
#pragma once

#include <memory>
#include <string>

#include "markerarray/panel.hpp"
#include "poe/options.hpp"

namespace poe::cli {

// -pmarray or -progress for the job of that id and size; null when neither was asked for, or when
// there is no terminal that can show it. Sets this program's locale.
std::unique_ptr<markers::Panel> make_panel(const Options& options, const std::string& job,
                                           std::size_t tasks);

}  // namespace poe::cli
