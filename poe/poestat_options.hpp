// The user's request to poestat. Reading it is a pure function of the arguments.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace poe::cli {

struct StatOptions {
    enum class Request { kStatus, kHelp, kVersion } request = Request::kStatus;
    std::string job;         // id, beginning of an id, or pid of a poe; empty: all jobs
    bool all_users = false;  // -a
    bool deadlock = false;   // -deadlock: look for deadlocks
    bool json = false;       // -json
    bool pools = false;      // -pools: how the nodes of the pools are used
    bool nodes = false;      // -nodes: the load of nodes; `job` is then a host file, or empty
    std::optional<std::chrono::seconds> every;  // -w: repeat at this interval
};

// A UserError names the word as typed and the flag that was probably meant.
Result<StatOptions> read_stat_options(const std::vector<std::string>& arguments);

std::string stat_help_text();

}  // namespace poe::cli
