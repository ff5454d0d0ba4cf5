// The tuning file of mptune(1) on its way to the tasks: all of a job must choose the same
// algorithms, and those on other computers may not see this one's files.
#pragma once

#include <string>
#include <vector>

namespace poe::cli {

// The entry of the tasks' environment that has the file and its name, or why it cannot be read: the
// library says so when it is needed. What is in it is not looked at. A file that is not there, and
// that MP_TUNEFILE does not name, is one with nothing in it. `environment` as for exec; `host` is
// this computer's name.
std::string tuning_entry(const std::vector<std::string>& environment, const std::string& host);

}  // namespace poe::cli
