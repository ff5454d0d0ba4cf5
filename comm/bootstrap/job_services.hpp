// The requests that a task can make to poe: to start more tasks, and to keep a name. All tasks of
// the job, and those that they start, see the same names. The protocol is PMI-1 (pmi1_client.hpp),
// which other MPI libraries use for the same requests.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace poe::comm {

// One program of a request to start more tasks.
struct ProgramToSpawn {
    std::string program;
    std::vector<std::string> arguments;
    int tasks = 0;
    std::vector<std::pair<std::string, std::string>> info;  // host, wdir, path; others are ignored
};

// For the thread that has the turn. Every function blocks until poe has answered, and throws Error
// if poe cannot be reached.
class JobServices {
  public:
    // Returns when over() returns true; may give the turn up meanwhile. `fd` becomes readable when
    // poe answers.
    using Wait = std::function<void(int fd, const std::function<bool()>& over)>;

    // Empty if poe has not started this process, or something has closed its connection.
    static std::optional<JobServices> find(Wait wait);

    struct Spawned {
        std::string job;      // the name of the new job
        std::string failure;  // the reason; empty: all tasks run
    };
    // Starts tasks, which find `value` under `key`.
    Spawned spawn(const std::vector<ProgramToSpawn>& programs, const std::string& key,
                  const std::string& value);
    // Why the tasks of a job from spawn() cannot all read their value: one of them has ended
    // before, and poe ends the others. Empty if poe has not said so by now. Never blocks.
    std::string failure_of(const std::string& job);
    // The value that the task has given that has started this task; empty if there is none.
    std::optional<std::string> value_from_spawner(const std::string& key);

    enum class NameResult { kDone, kTaken, kUnknown, kFailed };
    // Names of services: any text of at most kLongestName bytes.
    NameResult publish(const std::string& name, const std::string& value);
    NameResult look_up(const std::string& name, std::string& value);
    NameResult withdraw(const std::string& name);

    static constexpr std::size_t kLongestName = 1024;
    // The length of a line of the protocol, which limits arguments.
    static constexpr std::size_t kLongestLine = 8000;

  private:
    explicit JobServices(Wait wait) : wait_(std::move(wait)) {}
    static bool& exchange_is_busy();
    std::string exchange(std::string_view lines);

    Wait wait_;
};

}  // namespace poe::comm
