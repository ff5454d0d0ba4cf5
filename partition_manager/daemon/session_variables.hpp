// Recognizes the variables of poe's environment that describe poe's session and not the job. Tasks
// on other nodes do not get them.
#pragma once

#include <string_view>

namespace poe::pm {

bool is_session_variable(std::string_view name);

}  // namespace poe::pm
