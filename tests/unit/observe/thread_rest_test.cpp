// A thread that computes, then sleeps: the wait ends when it sleeps.
#include "mpi/observe/thread_rest.hpp"

#include <atomic>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace poe::observe;

TEST_CASE("threads that compute are awaited, threads that sleep are not") {
    std::atomic<int> id{0};
    std::atomic<int> computed{0};
    std::atomic<bool> end{false};
    std::thread other([&] {
        id = ::gettid();
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(50)) ++computed;
        const int all = computed;
        computed = -all;
        end.wait(false);
    });
    while (id == 0) std::this_thread::yield();
    const int threads[] = {id};
    let_rest(threads, std::chrono::minutes(1));
    CHECK(computed < 0);
    CHECK_FALSE(wants_to_run(id));
    let_rest(threads, std::chrono::minutes(1));
    end = true;
    end.notify_one();
    other.join();
    let_rest(threads, std::chrono::minutes(1));
}
