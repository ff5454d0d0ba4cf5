// The MPL settings that a task reads itself, in a job that another launcher has started. In a job
// of poe, poe reads them. Variables, values and rules are the same in both cases.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/types.hpp"
#include "comm/bootstrap/rendezvous.hpp"

namespace poe::comm {

struct LaunchSettings {
    WaitMode wait_mode = WaitMode::kAdaptive;  // MP_WAIT_MODE
    Bytes buffer_mem = 0;                      // MP_BUFFER_MEM, in bytes; 0: default
    Bytes eager_limit = 0;                     // MP_EAGER_LIMIT, in bytes; 0: default
    Euilib euilib = Euilib::kUs;               // MP_EUILIB
    bool single_copy = true;                   // MP_SINGLE_COPY

    bool operator==(const LaunchSettings&) const = default;

    // Conversion to numbers separated by commas, for other tasks, and back; empty if invalid. Pure.
    std::string text() const;
    static std::optional<LaunchSettings> parse(const std::string& text);
};

// Variables that are not set or empty leave the defaults. Pure.
Result<LaunchSettings> read_launch_settings(const Variables& variables);

}  // namespace poe::comm
