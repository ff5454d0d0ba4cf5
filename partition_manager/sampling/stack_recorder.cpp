// See stack_recorder.hpp.
#include "partition_manager/sampling/stack_recorder.hpp"

#include <algorithm>
#include <fcntl.h>
#include <iterator>
#include <span>
#include <sys/uio.h>
#include <unistd.h>

#include "base/unique_fd.hpp"

namespace poe::pm {
namespace {

// If mappings are read from /proc: their maximum age, and their maximum age if a stack contains an
// address that is in none of them.
constexpr std::uint64_t kMapsAge = 1'000'000'000;       // ns
constexpr std::uint64_t kDoubtfulMapsAge = 20'000'000;  // ns

// Returns the text of a file of /proc, or the beginning of it if the process ends meanwhile.
std::string text_of(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    char piece[65536];
    for (ssize_t count = 0; file && (count = ::read(file.get(), piece, sizeof piece)) > 0;)
        text.append(piece, static_cast<std::size_t>(count));
    return text;
}

// Returns the code that a process has mapped now. Older events that are read later add what it had
// mapped before.
AddressSpace present_maps(pid_t process) {
    return read_maps(text_of("/proc/" + std::to_string(process) + "/maps"));
}

// Reads a word of a process that still runs, for the outer frames beyond the copied part of a
// stack, which change rarely.
std::optional<std::uint64_t> live_word(pid_t process, std::uint64_t address) {
    std::uint64_t word = 0;
    const iovec here{&word, sizeof word};
    const iovec there{reinterpret_cast<void*>(address), sizeof word};
    if (::process_vm_readv(process, &here, 1, &there, 1, 0) != sizeof word) return std::nullopt;
    return word;
}

}  // namespace

StackRecorder::StackRecorder(trace::Recorder& recorder, Maps maps,
                             std::function<TaskId(std::uint64_t)> task_of)
    : recorder_(recorder), maps_(maps), task_of_(std::move(task_of)) {}

StackRecorder::Space StackRecorder::read_space(pid_t process) const {
    return {present_maps(process), maps_ == Maps::kRead ? trace::monotonic_ns() : 0};
}

AddressSpace& StackRecorder::space_of(pid_t process) {
    const auto [known, is_new] = spaces_.try_emplace(process);
    if (is_new) known->second = read_space(process);
    return known->second.code;
}

// If the process has ended meanwhile, its mappings stay as they were.
bool StackRecorder::refresh(pid_t process, std::uint64_t age) {
    if (maps_ != Maps::kRead) return false;
    space_of(process);
    Space& space = spaces_[process];
    const std::uint64_t now = trace::monotonic_ns();
    if (now < space.read_at + age) return false;
    space.read_at = now;
    AddressSpace read = present_maps(process);
    if (read.empty()) return false;
    space.code = std::move(read);
    return true;
}

StackRecorder::CodeFile& StackRecorder::file_of(const std::string& path) {
    std::unique_ptr<CodeFile>& file = files_[path];
    if (!file) file = std::make_unique<CodeFile>(path);
    return *file;
}

StackRecorder::Found StackRecorder::find(const AddressSpace& space, std::uint64_t address) {
    const Mapping* mapping = space.find(address);
    if (mapping == nullptr) return {};
    CodeFile& file = file_of(mapping->path);
    return {&file, file.tables.address_of(address - mapping->begin + mapping->position)};
}

void StackRecorder::on_added(pid_t process) {
    if (!added_.insert(process).second) return;
    spaces_[process] = read_space(process);
    // If it has ended, its mappings follow from those of its maker.
    if (spaces_[process].code.empty()) added_.erase(process);
}

void StackRecorder::forget(pid_t process) {
    spaces_.erase(process);
    seen_.erase(process);
    added_.erase(process);
    asleep_.erase(process);
}

void StackRecorder::on_event(const PerfEvent& event) {
    switch (event.kind) {
        case PerfEvent::Kind::kSample:
            on_sample(event);
            break;
        case PerfEvent::Kind::kMapped:
            space_of(event.process)
                .add({event.address, event.address + event.bytes, event.position, event.path});
            break;
        case PerfEvent::Kind::kExecuted:
            if (on_forked) on_forked(task_of_(event.event), event.process);
            spaces_[event.process] = read_space(event.process);
            break;
        case PerfEvent::Kind::kForked:
            if (on_forked) on_forked(task_of_(event.event), event.process);
            // If the mappings were read after this, they are those of a program that the process
            // may have executed meanwhile.
            if (added_.contains(event.process)) break;
            space_of(event.parent);
            spaces_[event.process] = spaces_[event.parent];
            break;
        case PerfEvent::Kind::kThreadMade:
            break;
        case PerfEvent::Kind::kEnded:
            on_ended(event);
            break;
        case PerfEvent::Kind::kLost:
            lost_ += event.lost;
            break;
    }
}

// The kernel may give the number of a process to another one. Threads that outlive the first one of
// their process are rare; the mappings of their process are read again.
void StackRecorder::on_ended(const PerfEvent& event) {
    asleep_.erase(event.thread);
    if (event.thread != event.process) return;
    spaces_.erase(event.process);
    added_.erase(event.process);
    if (seen_.erase(event.process) == 0) ++ended_unseen_;
}

StackWalk StackRecorder::walk(pid_t process, const Registers& registers, const StackCopy& copy) {
    const AddressSpace& space = space_of(process);
    UnwindSources sources;
    sources.rule_of = [&](std::uint64_t address) -> const UnwindRule* {
        const Found found = find(space, address);
        return found.file == nullptr ? nullptr : &found.file->tables.rule_of(found.address);
    };
    sources.word_at = [&](std::uint64_t address) {
        const auto word = copy.word_at(address);
        return word || address < copy.address ? word : live_word(process, address);
    };
    return registers.has(kReturnAddress) ? walk_stack(registers, sources) : StackWalk();
}

std::pair<std::uint32_t, bool> StackRecorder::path_of(pid_t process, const Registers& registers,
                                                      const StackCopy& copy,
                                                      std::vector<trace::Record>& records) {
    refresh(process, kMapsAge);
    StackWalk walked = walk(process, registers, copy);
    if (!walked.whole && refresh(process, kDoubtfulMapsAge))
        walked = walk(process, registers, copy);
    const AddressSpace& space = space_of(process);
    std::vector<CodePlace> stack;
    for (auto address = walked.addresses.rbegin(); address != walked.addresses.rend(); ++address) {
        const Found found = find(space, *address);
        stack.push_back(found.file == nullptr ? CodePlace{&unknown_file_, *address}
                                              : CodePlace{&found.file->path, found.address});
    }
    return {paths_.path_of(stack, records), walked.whole};
}

// A new stack may need more records than the recorder takes at once.
void StackRecorder::record(std::uint64_t time, const std::vector<trace::Record>& records) {
    const std::uint64_t origin = recorder_.header().origin;
    const std::span<const trace::Record> all = records;
    for (std::size_t at = 0; at < all.size(); at += trace::Recorder::kMostTogether)
        recorder_.record_at(
            time > origin ? time - origin : 0,
            all.subspan(at, std::min(all.size() - at, trace::Recorder::kMostTogether)));
}

void StackRecorder::on_sample(const PerfEvent& event) {
    const TaskId task = task_of_(event.event);
    if (task < 0) return;
    // The process ended before its mappings were read.
    if (maps_ == Maps::kRead && space_of(event.process).empty()) {
        if (seen_.insert(event.process).second) ++ended_unseen_;
        return;
    }
    seen_.insert(event.process);
    std::vector<trace::Record> records;
    const auto [path, whole] =
        path_of(event.process, event.registers, {event.stack_at, event.stack}, records);
    records.push_back(
        {.kind = trace::Kind::kSample,
         .detail = static_cast<std::uint8_t>((whole ? 0 : trace::kSampleCut) |
                                             (event.in_kernel ? trace::kSampleInKernel : 0)),
         .extra = event.count,
         .a = static_cast<std::uint32_t>(task),
         .b = trace::pair(path, static_cast<std::uint32_t>(event.thread))});
    ++samples_;
    record(event.time, records);
}

void StackRecorder::on_sleeper(std::uint64_t time, const Sleeper& sleeper, std::uint16_t count) {
    seen_.insert(sleeper.process);
    trace::Record& last = asleep_[sleeper.thread];
    std::vector<trace::Record> records;
    if (!sleeper.unchanged) {
        const StackCopy copy{sleeper.registers[kStackPointer], sleeper.stack};
        const auto [path, whole] = path_of(sleeper.process, sleeper.registers, copy, records);
        last = {.kind = trace::Kind::kSample,
                .detail = static_cast<std::uint8_t>(trace::kSampleWaiting |
                                                    (whole ? 0 : trace::kSampleCut)),
                .a = static_cast<std::uint32_t>(sleeper.task),
                .b = trace::pair(path, static_cast<std::uint32_t>(sleeper.thread))};
    }
    last.extra = count;
    records.push_back(last);
    record(time, records);
}

}  // namespace poe::pm
