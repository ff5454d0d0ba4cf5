// Waiting until threads of this process have nothing to do.
#pragma once

#include <algorithm>
#include <chrono>
#include <fstream>
#include <span>
#include <string>
#include <thread>

namespace poe::observe {

// True if a thread of this process runs, waits for a processor, or waits for a disk.
inline bool wants_to_run(int thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos || text.size() <= name_end + 2) return false;
    const char state = text[name_end + 2];
    return state == 'R' || state == 'D';
}

// Blocks until none of these threads wants to run, or until that time has passed. A thread that has
// ended counts as one that does not want to run.
inline void let_rest(std::span<const int> threads, std::chrono::milliseconds at_most) {
    constexpr std::chrono::milliseconds kTurn{1};
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (std::any_of(threads.begin(), threads.end(), wants_to_run) &&
           std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(kTurn);
}

}  // namespace poe::observe
