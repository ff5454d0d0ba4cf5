// StackRecorder: turns the kernel's samples into records of a trace. It follows which code each
// process has mapped, unwinds the copied stacks, and records them in order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/types.hpp"
#include "partition_manager/sampling/address_space.hpp"
#include "partition_manager/sampling/call_paths.hpp"
#include "partition_manager/sampling/perf_event.hpp"
#include "partition_manager/sampling/sleep_watch.hpp"
#include "partition_manager/sampling/unwinder.hpp"
#include "tracer/probe/recorder.hpp"

namespace poe::pm {

// For one thread.
class StackRecorder {
  public:
    // How the mappings of a process are kept up to date: by events of the source, or by reading
    // them again.
    enum class Maps : std::uint8_t { kByEvents, kRead };

    // `task_of` returns the task of a perf event; -1: unknown. The recorder must outlive this
    // object.
    StackRecorder(trace::Recorder& recorder, Maps maps,
                  std::function<TaskId(std::uint64_t)> task_of);

    // Learns which code the process has mapped so far, because its events before now may be
    // unknown.
    void on_added(pid_t process);
    // Events must come in the order of time.
    void on_event(const PerfEvent& event);
    // Records a thread that sleeps at `time` (CLOCK_MONOTONIC, ns). The record stands for `count`
    // samples.
    void on_sleeper(std::uint64_t time, const Sleeper& sleeper, std::uint16_t count);
    // Forgets a process that has ended. For sources that have no event for this.
    void forget(pid_t process);
    // Called for each process that a task has made.
    std::function<void(TaskId, pid_t)> on_forked;
    std::uint64_t samples() const { return samples_; }
    std::uint64_t lost() const { return lost_; }
    // The number of processes that have ended without a sample that could be unwound.
    std::uint64_t ended_unseen() const { return ended_unseen_; }

  private:
    struct CodeFile {
        std::string path;
        UnwindTables tables;
        explicit CodeFile(const std::string& named) : path(named), tables(named) {}
    };
    // The file that contains an address of a process, and the address in that file.
    struct Found {
        CodeFile* file = nullptr;
        std::uint64_t address = 0;
    };

    struct Space {
        AddressSpace code;
        std::uint64_t read_at = 0;  // CLOCK_MONOTONIC, ns
    };

    AddressSpace& space_of(pid_t process);
    Space read_space(pid_t process) const;
    // Reads the mappings again if this was not done for `age` ns. Returns whether it was done.
    bool refresh(pid_t process, std::uint64_t age);
    StackWalk walk(pid_t process, const Registers& registers, const StackCopy& copy);
    CodeFile& file_of(const std::string& path);
    // Unwinds. Returns the path, and whether it is whole; appends what is new of it to `records`.
    std::pair<std::uint32_t, bool> path_of(pid_t process, const Registers& registers,
                                           const StackCopy& copy,
                                           std::vector<trace::Record>& records);
    void record(std::uint64_t time, const std::vector<trace::Record>& records);
    Found find(const AddressSpace& space, std::uint64_t address);
    void on_sample(const PerfEvent& event);
    void on_ended(const PerfEvent& event);

    trace::Recorder& recorder_;
    Maps maps_;
    std::function<TaskId(std::uint64_t)> task_of_;
    std::unordered_map<pid_t, Space> spaces_;
    std::map<std::string, std::unique_ptr<CodeFile>> files_;
    CallPaths paths_;
    std::unordered_map<pid_t, trace::Record> asleep_;  // by thread: its last record as a sleeper
    const std::string unknown_file_;
    std::uint64_t samples_ = 0;
    std::uint64_t lost_ = 0;
    std::unordered_set<pid_t> seen_;   // processes of which there are samples
    std::unordered_set<pid_t> added_;  // whose mappings do not follow from those of their maker
    std::uint64_t ended_unseen_ = 0;
};

}  // namespace poe::pm
