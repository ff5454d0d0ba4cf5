// Error: a failure of the environment (a peer died, a disk is full, a limit was reached). It is
// thrown where it is detected, and caught and reported once, at an event loop or in main. It
// carries the errno value of the system call that failed.
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

    // The errno value of the cause; 0 if there is none.
    int system_errno() const noexcept { return system_errno_; }

  private:
    int system_errno_;
};

// Throws Error for the call that has just failed, with errno as its cause.
[[noreturn]] inline void throw_errno(const std::string& what_failed) {
    throw Error(what_failed, errno);
}

}  // namespace poe
