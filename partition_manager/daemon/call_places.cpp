// See call_places.hpp.
#include "partition_manager/daemon/call_places.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "partition_manager/launch/local_launcher.hpp"
#include "partition_manager/launch/spawn.hpp"

namespace poe::pm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{2};

// Reads from the descriptor until its end or until the time `end`.
std::string read_until(int fd, Clock::time_point end) {
    std::string text;
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd wait{fd, POLLIN, 0};
        if (left <= 0 || (::poll(&wait, 1, static_cast<int>(left)) < 0 && errno != EINTR))
            return text;
        if (wait.revents == 0) continue;
        std::array<char, 4096> part;
        const ssize_t got = ::read(fd, part.data(), part.size());
        if (got == 0 || (got < 0 && errno != EINTR)) return text;
        if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    }
}

// Returns the output of pmd-core -lines: a line for each call, in the order of the calls.
std::string run_helper(const std::vector<CallSite>& calls) {
    std::vector<std::string> words{find_pmd_sibling("pmd-core"), "-lines"};
    for (const auto& [process, site] : calls)
        words.push_back(std::to_string(process) + ":" + std::to_string(site));
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("making a pipe for pmd-core");
    const UniqueFd from(ends[0]);
    UniqueFd to(ends[1]);
    SpawnRequest request;
    request.path = words.front().c_str();
    request.argv = argv.data();
    request.envp = environ;
    request.stdout_fd = to.get();
    request.death_signal = SIGKILL;
    const pid_t helper = spawn(request);
    to.reset();
    if (helper < 0) throw Error("pmd-core cannot be started");
    std::string text = read_until(from.get(), Clock::now() + kPatience);
    ::kill(helper, SIGKILL);
    ::waitpid(helper, nullptr, 0);
    return text;
}

}  // namespace

void CallPlaces::learn(const std::vector<CallSite>& calls) {
    std::vector<CallSite> unknown;
    for (const CallSite& call : calls)
        if (call.first > 0 && call.second != 0 && known_.count(call) == 0) unknown.push_back(call);
    if (unknown.empty()) return;
    std::string text;
    try {
        text = run_helper(unknown);
    } catch (const Error&) {
        return;  // the report then has no places
    }
    std::string_view rest = text;
    for (const CallSite& call : unknown) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) return;
        known_[call] = rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
}

std::string CallPlaces::place(const CallSite& call) const {
    const auto known = known_.find(call);
    return known != known_.end() ? known->second : std::string();
}

}  // namespace poe::pm
