// Passes the tuning file of mptune(1) and the plan of vt -plan to the tasks. All tasks of a job
// must choose the same algorithms, and tasks on other computers may not see the files of this one.
#pragma once

#include <string>
#include <vector>

namespace poe::cli {

// Returns the environment entry for the tasks that contains the file and its name, or the reason
// why it cannot be read; the library reports this reason when it needs the file. The content is not
// examined. A missing file that MP_TUNEFILE does not name counts as empty. `environment` has the
// format for exec; `host` is this computer's name. Empty if there is no path. Blocks on the file
// system.
std::string tuning_entry(const std::vector<std::string>& environment, const std::string& host);

// Returns the environment entry for the tasks that contains the text of this plan. The text is not
// examined; the library reports mistakes in it. Blocks on the file system; throws Error if the file
// cannot be read.
std::string plan_entry(const std::string& path);

}  // namespace poe::cli
