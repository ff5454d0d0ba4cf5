// The tuning file of mptune(1) on its way to the tasks: all of a job must choose the same
// algorithms, and those on other computers may not see this one's files.
#pragma once

#include <string>
#include <vector>

namespace poe::cli {

// The entry of the tasks' environment that has the file and its name; a file that is not there is
// one with nothing in it. What is in it is not looked at. A file that MP_TUNEFILE names and that
// cannot be read is left to the library, which says so when it is needed. `environment` as for
// exec; `host` is this computer's name.
std::string tuning_entry(const std::vector<std::string>& environment, const std::string& host);

}  // namespace poe::cli
