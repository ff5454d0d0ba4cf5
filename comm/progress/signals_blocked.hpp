// SignalsBlocked: blocks signals while the library creates a thread of its own, because only the
// program's threads handle signals.
#pragma once

#include <csignal>
#include <pthread.h>

namespace poe::comm {

// Blocks all signals of this thread while the object exists. A thread that is created meanwhile
// keeps them blocked.
class SignalsBlocked {
  public:
    SignalsBlocked() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace poe::comm
