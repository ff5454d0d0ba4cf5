// See session_variables.hpp.
#include "partition_manager/daemon/session_variables.hpp"

#include <algorithm>
#include <iterator>

namespace poe::pm {

bool is_session_variable(std::string_view name) {
    // Terminals, displays, agents and similar resources exist only on the home node.
    static constexpr std::string_view kNames[] = {"HOSTNAME",
                                                  "HOST",
                                                  "DISPLAY",
                                                  "WAYLAND_DISPLAY",
                                                  "XAUTHORITY",
                                                  "WINDOWID",
                                                  "TMUX",
                                                  "TMUX_PANE",
                                                  "STY",
                                                  "WINDOW",
                                                  "MAIL",
                                                  "SSH_CLIENT",
                                                  "SSH_TTY",
                                                  "SSH_AUTH_SOCK",
                                                  "SSH_CONNECTION",
                                                  "SSH_AGENT_PID",
                                                  "GPG_AGENT_INFO",
                                                  "SESSION_MANAGER",
                                                  "INVOCATION_ID",
                                                  "JOURNAL_STREAM"};
    return name.starts_with("XDG_") || name.starts_with("DBUS_") ||
           std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace poe::pm
