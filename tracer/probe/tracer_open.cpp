// The rare operations: finds the job, opens streams, numbers names. See tracer.hpp.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/segment/node_segment.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::trace {
namespace {

std::string own_program() {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

// The position of a code address: its object file, and the address relative to that file's symbols.
struct Place {
    std::string object;
    std::uint64_t address = 0;
};

Place place_of(const void* address) {
    Dl_info info = {};
    link_map* map = nullptr;
    if (::dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
        return {"", reinterpret_cast<std::uintptr_t>(address)};
    const bool is_program = map->l_name == nullptr || *map->l_name == '\0';
    return {is_program ? own_program() : map->l_name,
            reinterpret_cast<std::uintptr_t>(address) - map->l_addr};
}

}  // namespace

std::string generation_name(std::uint32_t generation) {
    return "trace-" + std::to_string(generation);
}

void Tracer::attach(const std::atomic<std::uint32_t>& word, const std::string& job_directory,
                    TaskId task) noexcept {
    const std::scoped_lock lock(mutex_);
    if (job_directory_ != nullptr) return;
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory the process ends.
    job_directory_ = new std::string(job_directory);
    task_ = task;
    ::pthread_atfork(nullptr, nullptr, forget_in_child);
    word_.store(&word, std::memory_order_release);
}

void Tracer::attach_by_environment(const char* (*variable)(const char*)) noexcept {
    {
        const std::scoped_lock lock(mutex_);
        if (job_directory_ != nullptr) return;
    }
    const char* segment_path = variable("MP_SEGMENT");
    const char* child = variable("MP_CHILD");
    TaskId task = -1;
    if (segment_path == nullptr || child == nullptr ||
        std::from_chars(child, child + std::strlen(child), task).ec != std::errc{})
        return;
    try {
        auto* segment = new NodeSegment(NodeSegment::attach(segment_path));
        const auto index = segment->local_index(task);
        if (!index) return;
        const std::string path = segment_path;
        attach(segment->slot(*index).tracing, path.substr(0, path.rfind('/')), task);
    } catch (const std::exception&) {
        // Without a job no records are wanted. MPL's own calls report errors.
        return;
    }
}

void Tracer::forget_in_child() noexcept {
    process_context().tracer.word_.store(&kOff, std::memory_order_relaxed);
    process_context().tracer.recorder_.store(nullptr, std::memory_order_relaxed);
}

[[gnu::cold]] void Tracer::open(std::uint32_t word) noexcept {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t before = opened_.load(std::memory_order_relaxed);
    if (word == before) return;
    try {
        if (generation_of(word) != generation_of(before) || before == 0) open_stream(word);
    } catch (const std::exception& error) {
        const std::string text =
            "ATTENTION: task " + std::to_string(task_) + " is not traced: " + error.what() + "\n";
        std::fwrite(text.data(), 1, text.size(), stderr);
    }
    const int own = own_level_.load(std::memory_order_relaxed);
    level_.store(level_of(word) == 0 ? 0
                 : own >= 0          ? own
                                     : level_of(word),
                 std::memory_order_relaxed);
    opened_.store(word, std::memory_order_release);
}

void Tracer::open_stream(std::uint32_t word) {
    recorder_.store(nullptr, std::memory_order_release);
    if (level_of(word) == 0) return;
    if (tables_ == nullptr) {
        tables_ = new Tables;
        define_calls();
    }
    auto recorder = Recorder::open(*job_directory_ + "/" + generation_name(generation_of(word)) +
                                       "/" + stream_name(StreamKind::kTask, task_),
                                   [this](Recorder& again) { repeat_definitions(again); });
    if (!recorder) return;  // another program of this task is the writer
    say_all(*recorder);
    recorder->record({.kind = Kind::kTracing, .detail = 1});
    recorder_.store(recorder.get(), std::memory_order_release);
    // Other threads may still be recording to the previous recorder.
    tables_->recorders.push_back(std::move(recorder));
}

// Called when a stream that wraps has started again. The definitions written here may themselves
// reach the next lap, and if this thread has to give up its core, others may overwrite some of them
// with a whole lap. In both cases they are repeated once more, but not forever if other threads
// always write faster.
void Tracer::repeat_definitions(Recorder& recorder) {
    constexpr int kMostTimes = 8;
    if (laps_.fetch_add(1) > 0) return;
    for (int times = 0; times < kMostTimes; ++times) {
        std::uint32_t seen = laps_.load();
        {
            const std::scoped_lock lock(mutex_);
            say_all(recorder);
        }
        if (laps_.compare_exchange_strong(seen, 0)) return;
    }
    laps_.store(0);
}

void Tracer::define_calls() {
    for (std::uint32_t id = 1; id < 2 * kNonBlocking; ++id) {
        const LibraryRegion region = library_region(id);
        if (region.name.empty()) continue;
        tables_->definitions.push_back(
            {{.kind = Kind::kDefine,
              .detail = static_cast<std::uint8_t>(Defined::kRegion),
              .extra = static_cast<std::uint16_t>(region.name.size()),
              .a = id,
              .b = region.collective ? std::uint64_t{1} : std::uint64_t{0}},
             region.name});
    }
}

namespace {

void say(Recorder& recorder, const Record& head, std::string_view text) {
    std::vector<Record> together{head};
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), kTextBytes)))
        together.push_back(text_record(text.substr(0, kTextBytes)));
    recorder.record(together);
}

}  // namespace

void Tracer::say_name(Recorder& recorder, ContextId context, std::string_view name, bool begins) {
    say(recorder,
        {.kind = Kind::kDefine,
         .detail = static_cast<std::uint8_t>(Defined::kCommunicator),
         .extra = static_cast<std::uint16_t>(name.size()),
         .a = begins ? 1u : 0u,
         .b = context},
        name);
}

void Tracer::name_context(ContextId context, std::string_view name) noexcept {
    constexpr std::size_t kLongest = 256;
    name = name.substr(0, kLongest);
    {
        const std::scoped_lock lock(mutex_);
        // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory the process ends.
        if (names_ == nullptr) names_ = new std::map<ContextId, std::string>;
        if (names_->size() >= kMostNames && !names_->contains(context)) return;
        (*names_)[context] = name;
    }
    if (Recorder* const recorder = recorder_.load(std::memory_order_acquire); recorder != nullptr)
        say_name(*recorder, context, name, false);
}

void Tracer::begin_context(ContextId context) noexcept {
    {
        const std::scoped_lock lock(mutex_);
        if (names_ == nullptr || names_->erase(context) == 0) return;
    }
    if (Recorder* const recorder = recorder_.load(std::memory_order_acquire); recorder != nullptr)
        say_name(*recorder, context, "", true);
}

// Repeats all definitions. Precondition: the mutex is locked. In a stream that wraps, they are
// omitted if they would fill more than half of it.
void Tracer::say_all(Recorder& recorder) {
    static const std::map<ContextId, std::string> kNone;
    const std::map<ContextId, std::string>& names = names_ == nullptr ? kNone : *names_;
    std::size_t records = 0;
    for (const Definition& each : tables_->definitions)
        records += 1 + text_records(each.text.size());
    for (const auto& [context, name] : names) records += 1 + text_records(name.size());
    if (recorder.header().wraps != 0 && records > recorder.header().capacity / 2) return;
    for (const Definition& each : tables_->definitions) say(recorder, each.record, each.text);
    for (const auto& [context, name] : names) say_name(recorder, context, name, false);
}

std::uint32_t Tracer::define(Recorder& recorder, Defined what, std::uint32_t id, std::uint64_t b,
                             std::string_view text) {
    constexpr std::size_t kLongest = 4096;
    text = text.substr(0, kLongest);
    const Record head{.kind = Kind::kDefine,
                      .detail = static_cast<std::uint8_t>(what),
                      .extra = static_cast<std::uint16_t>(text.size()),
                      .a = id,
                      .b = b};
    {
        const std::scoped_lock lock(mutex_);
        tables_->definitions.push_back({head, std::string(text)});
    }
    say(recorder, head, text);
    return id;
}

void Tracer::define_mpi_call(Recorder& recorder, std::uint32_t region) noexcept {
    if (region > kLastCall || tables_->mpi_calls[region].load(std::memory_order_relaxed)) return;
    if (tables_->mpi_calls[region].exchange(true, std::memory_order_relaxed)) return;
    const LibraryRegion call = library_region(region);
    define(recorder, Defined::kRegion, region, call.collective ? 1 : 0, call.name);
}

// Subtracts one from the return address, so that tools find the line of the call.
std::uint16_t Tracer::site_of(Recorder& recorder, const void* address) noexcept {
    if (address == nullptr) return 0;
    const void* site = static_cast<const char*>(address) - 1;
    const SiteTable::Entry* known = tables_->sites.find(site);
    if (known == nullptr)
        known = tables_->sites.add(site, 1, [&](const SiteTable::Entry& made) {
            const Place place = place_of(made.key);
            define(recorder, Defined::kSite, made.id, place.address, place.object);
        });
    return known != nullptr ? static_cast<std::uint16_t>(known->id) : 0;
}

// A stream that wraps would lose the definition.
[[gnu::cold]] std::uint32_t Tracer::define_line(Recorder& recorder, const CallLine& line) noexcept {
    if (recorder.header().wraps != 0) return 0;
    if (line.region >= kFirstMpiRegion) define_mpi_call(recorder, line.region);
    const std::uint16_t site = site_of(recorder, line.site);
    return recorder.call_lines().add(line, [&]() -> std::uint32_t {
        const Record together[] = {{.kind = Kind::kDefine,
                                    .detail = static_cast<std::uint8_t>(Defined::kCallLine),
                                    .a = line.region,
                                    .b = pair(static_cast<std::uint32_t>(line.peer),
                                              static_cast<std::uint32_t>(line.type))},
                                   {.kind = Kind::kContext,
                                    .a = static_cast<std::uint32_t>(line.root),
                                    .b = pair(site, line.context)}};
        const auto number = recorder.record_numbered(together);
        constexpr std::uint64_t kMostNumbers = 0xffffffff;
        return number && *number <= kMostNumbers ? static_cast<std::uint32_t>(*number) : 0;
    });
}

std::uint32_t Tracer::region_of(Recorder& recorder, std::string_view name) noexcept {
    const NameTable::Entry* region = tables_->regions.find(name);
    if (region == nullptr)
        region = tables_->regions.add(name, kFirstUserRegion, [&](const NameTable::Entry& made) {
            define(recorder, Defined::kRegion, made.id, 2, made.key);
        });
    return region != nullptr ? region->id : 0;
}

}  // namespace poe::trace
