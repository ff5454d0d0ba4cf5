// Error: what the world did (a peer died, a disk filled, a limit was reached). Thrown where it is
// met, caught at an event loop or in main, reported there once. Carries the system's own cause.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace poe {

class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& what_happened, int system_errno = 0)
        : std::runtime_error(system_errno == 0
                                 ? what_happened
                                 : what_happened + ": " + std::strerror(system_errno)),
          system_errno_(system_errno) {}

    // The errno value behind it, 0 when there is none.
    int system_errno() const noexcept { return system_errno_; }

  private:
    int system_errno_;
};

// Throws Error for the call that just failed, with errno as its cause.
[[noreturn]] inline void throw_errno(const std::string& what_failed) {
    throw Error(what_failed, errno);
}

}  // namespace poe
