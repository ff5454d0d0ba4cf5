// ControlLine: the task's end of the job's control socket; see base/segment/control_request.hpp.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/segment/control_request.hpp"
#include "base/unique_fd.hpp"

namespace poe::comm {

// One thread at a time. All throw Error when the socket does not work.
class ControlLine {
  public:
    // `path`: of the daemon's socket. Connects; does not block.
    explicit ControlLine(const std::string& path);

    // Blocks only while the daemon has many requests to read.
    void send(const FlushRequest& request);

    // The answer, if it comes within that time.
    std::optional<FlushAnswer> wait(std::chrono::milliseconds patience);

  private:
    UniqueFd socket_;
};

}  // namespace poe::comm
