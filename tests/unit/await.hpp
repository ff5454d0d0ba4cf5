// Waiting for a condition in tests: with a limit, so that what never becomes true fails the test by
// name instead of hanging until ctest ends it.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace poe::test {

// Yields until condition() is true. After a minute, ends the program, which works in every thread.
template <class Condition>
void await(const Condition& condition, const char* what) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit) {
            std::fprintf(stderr, "still not true after a minute: %s\n", what);
            std::abort();
        }
        std::this_thread::yield();
    }
}

}  // namespace poe::test
