// The settings of MPL as a task reads them itself, in a job that another launcher has started; in a
// job of poe, poe reads them. Same variables, same values, same rules as there.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/types.hpp"
#include "comm/bootstrap/rendezvous.hpp"

namespace poe::comm {

struct LaunchSettings {
    WaitMode wait_mode = WaitMode::kAdaptive;  // MP_WAIT_MODE
    Bytes buffer_mem = 0;                      // MP_BUFFER_MEM; 0: default
    Bytes eager_limit = 0;                     // MP_EAGER_LIMIT; 0: default
    Euilib euilib = Euilib::kUs;               // MP_EUILIB
    bool single_copy = true;                   // MP_SINGLE_COPY

    bool operator==(const LaunchSettings&) const = default;

    // For other tasks: numbers parted by commas, and back; nothing for any other text. Pure.
    std::string text() const;
    static std::optional<LaunchSettings> parse(const std::string& text);
};

// Variables that are not set or empty keep their defaults. Pure.
Result<LaunchSettings> read_launch_settings(const Variables& variables);

}  // namespace poe::comm
