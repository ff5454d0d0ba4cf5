// ControlLine: the task's end of the job's control socket; see base/segment/control_request.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/segment/control_request.hpp"
#include "base/unique_fd.hpp"

namespace poe::comm {

// For one thread at a time. All functions throw Error if the socket fails.
class ControlLine {
  public:
    // Connects to the daemon's socket `path`. Does not block.
    explicit ControlLine(const std::string& path);

    // Blocks only while the daemon's queue of requests is full.
    void send(const FlushRequest& request) { send(&request, sizeof request); }
    void send(const DebuggerRequest& request) { send(&request, sizeof request); }

    // Waits for the answer for at most `patience`; empty if none has come.
    std::optional<FlushAnswer> wait(std::chrono::milliseconds patience) {
        FlushAnswer answer;
        if (!wait(patience, &answer, sizeof answer) || answer.magic != kControlMagic)
            return std::nullopt;
        return answer;
    }
    // True if the daemon has answered a DebuggerRequest within `patience`.
    bool wait_for_debugger(std::chrono::milliseconds patience) {
        DebuggerAnswer answer;
        return wait(patience, &answer, sizeof answer) && answer.magic == kDebuggerMagic;
    }

  private:
    void send(const void* request, std::size_t bytes);
    bool wait(std::chrono::milliseconds patience, void* answer, std::size_t bytes);

    UniqueFd socket_;
};

}  // namespace poe::comm
