// Which variables of poe's environment describe the session that it was typed in, and not the job:
// tasks on other nodes do not get them.
#pragma once

#include <string_view>

namespace poe::pm {

bool is_session_variable(std::string_view name);

}  // namespace poe::pm
