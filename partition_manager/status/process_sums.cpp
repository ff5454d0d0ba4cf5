// See process_sums.hpp.
#include "partition_manager/status/process_sums.hpp"

#include <dirent.h>
#include <string_view>

#include "base/parse.hpp"

namespace poe::pm {

void ProcessSums::look(uid_t owner) {
    facts_.clear();
    children_.clear();
    DIR* directory = ::opendir("/proc");
    if (directory == nullptr) return;
    while (const dirent* entry = ::readdir(directory)) {
        const auto pid = parse_number<pid_t>(entry->d_name);
        if (!pid) continue;
        auto facts = process_facts(*pid);
        if (!facts || facts->owner != owner) continue;
        children_[facts->parent].push_back(*pid);
        facts_.emplace(*pid, std::move(*facts));
    }
    ::closedir(directory);
}

std::optional<ProcessSum> ProcessSums::of(pid_t pid) const {
    const auto root = facts_.find(pid);
    if (root == facts_.end()) return std::nullopt;
    ProcessSum sum;
    sum.stopped = root->second.state == 'T' || root->second.state == 't';
    std::vector<pid_t> open{pid};
    // The loop is bounded, because process ids may be reused during the pass and form a cycle.
    for (std::size_t i = 0; i < open.size() && i <= facts_.size(); ++i) {
        const auto found = facts_.find(open[i]);
        if (found == facts_.end()) continue;
        const ProcessFacts& facts = found->second;
        sum.runs = sum.runs || facts.state == 'R';
        sum.disk = sum.disk || facts.state == 'D';
        sum.cpu += facts.cpu;
        sum.memory += facts.memory;
        const ProcessUse use = process_use(open[i]);
        sum.use.switches += use.switches;
        sum.use.disk_read += use.disk_read;
        sum.use.disk_written += use.disk_written;
        if (const auto more = children_.find(open[i]); more != children_.end())
            open.insert(open.end(), more->second.begin(), more->second.end());
    }
    return sum;
}

void add_process_states(std::span<TaskState> states, uid_t owner) {
    ProcessSums sums;
    sums.look(owner);
    for (TaskState& state : states) {
        const auto sum = sums.of(state.pid);
        if (!sum) continue;
        state.stopped = sum->stopped;
        state.idle = !sum->runs && !sum->stopped;
    }
}

}  // namespace poe::pm
