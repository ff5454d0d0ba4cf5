// Tracer: the interface of a task's probes. A word in the node segment tells whether the daemon
// wants this task traced, and at which level. The tracer then opens the task's stream and converts
// events to records. There is one object per process, because a process is one task; it is the
// context of the calls of VT_trc.h and of MPL's probes.
//
// A probe calls on() first, which costs one load of a cached word and one branch. Everything else
// is out of line.
//
//   The word:  generation 31..8 | level 7..0.  0: off.
//
// Before it stores the word, the daemon creates the streams of a generation and, in the job's
// directory, the link trace-<generation> to them. A process that the task has forked records
// nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/contexts.hpp"
#include "tracer/probe/id_table.hpp"
#include "tracer/probe/library_regions.hpp"
#include "tracer/probe/recorder.hpp"

namespace poe::trace {

constexpr std::uint32_t trace_word(std::uint32_t generation, std::uint32_t level) noexcept {
    return generation << 8 | level;
}
constexpr std::uint32_t generation_of(std::uint32_t word) noexcept {
    return word >> 8;
}
constexpr int level_of(std::uint32_t word) noexcept {
    return static_cast<int>(word & 0xffu);
}
// Returns the name of the link in the job's directory.
std::string generation_name(std::uint32_t generation);

// The lowest level at which something is recorded (VT's levels).
inline constexpr int kMessagesLevel = 1;
inline constexpr int kCollectivesLevel = 2;
inline constexpr int kSystemLevel = 3;
inline constexpr int kEverythingLevel = 9;

// The matching context and the request that a call or message is about. The contexts of MPL and CCL
// are not recorded, because the class of the message tells them.
struct About {
    std::uint32_t context = 0;
    std::uint32_t request = 0;  // 0: none
    bool recorded() const noexcept { return context > 1 || request != 0; }
};

// What Tracer::call records: the beginning or the end of a call, or neither, and a message or
// collective operation of it.
struct CallRecord {
    CallLine line;
    CallPart part = CallPart::kNone;
    bool begins = false;
    bool ends = false;
    std::uint32_t number = 0;   // of the message or of the collective operation
    std::uint32_t request = 0;  // that the part is about; 0: none
    Bytes bytes = 0;
    DataFlow flow = DataFlow::kNone;  // see Tracer::collective
};

// Where the beginning of a call is recorded, for the end of the call.
struct OpenCall {
    Recorder* recorder = nullptr;  // null: the beginning is not in a record of its own
    std::uint64_t number = 0;
};

// Any thread may call any function. Nothing throws or fails: what cannot be recorded is dropped.
// Functions block only to open a stream, to define a name and to preallocate memory for records.
class Tracer {
  public:
    constexpr Tracer() = default;
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    // Makes this process that task. `word` must exist as long as the process. Later calls have no
    // effect.
    void attach(const std::atomic<std::uint32_t>& word, const std::string& job_directory,
                TaskId task) noexcept;
    // Does the same from the environment (MP_SEGMENT, MP_CHILD), for a program that has made no MPL
    // call yet. `variable` returns a variable's value or null.
    void attach_by_environment(const char* (*variable)(const char*)) noexcept;

    bool on() const noexcept {
        return word_.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != 0;
    }

    // From now on, enter and leave, regions and collective calls are recorded of this thread only:
    // the states of a task nest, and those of several threads do not. Messages, markers and
    // counters of all threads are recorded. For a task whose threads call at the same time; call it
    // once.
    void record_states_of_this_thread() noexcept;

    // From now on, the communicator, window or file of this context has this name. Also while
    // nothing is recorded. A task keeps at most kMostNames; further contexts have no name in the
    // trace.
    void name_context(ContextId context, std::string_view name) noexcept;
    // A new communicator has this context. An earlier one may have had it, too, and a name.
    void begin_context(ContextId context) noexcept;
    static constexpr std::size_t kMostNames = 1024;

    // Precondition of the following functions: on().

    // `region`: a Call, or the nonblocking form of MPL's (library_regions.hpp). `site`: the return
    // address of the user's call; may be null. False: do not call leave().
    bool enter(std::uint32_t region, TaskId peer, std::int32_t type, const void* site,
               About about = {}) noexcept;
    void leave(std::uint32_t region, Bytes bytes) noexcept;
    bool enter(Call call, TaskId peer, std::int32_t type, const void* site) noexcept {
        return enter(static_cast<std::uint32_t>(call), peer, type, site);
    }
    void leave(Call call, Bytes bytes) noexcept { leave(static_cast<std::uint32_t>(call), bytes); }
    // `flow`: the class of flow control (comm/matching/pipe.hpp). `number`: number of the message
    // of its class from its source to its destination, from 1 on.
    void sent(std::uint8_t flow, TaskId to, std::int32_t type, Bytes bytes, std::uint32_t number,
              About about = {}) noexcept;
    void received(std::uint8_t flow, TaskId from, std::int32_t type, Bytes bytes,
                  std::uint32_t number, About about = {}) noexcept;
    // The end of a nonblocking send was reported to the program.
    void send_ended(std::uint8_t flow, TaskId to, std::int32_t type, std::uint32_t number,
                    About about = {}) noexcept;
    // Call after enter(). `root`: a task, or -1 for none. `flow`: of an operation that a persistent
    // request starts; otherwise kNone, because the name of the call tells it.
    void collective(TaskId root, std::int32_t group, Bytes bytes, std::uint32_t number,
                    Phase phase = Phase::kWhole, DataFlow flow = DataFlow::kNone) noexcept;

    // How the collective call that was entered last is carried out from now on: the name of the
    // path or algorithm, and the round, from 1 on, of how many; 0: it has none.
    void carried_out(std::string_view name, std::uint32_t round, std::uint32_t rounds) noexcept;

    // The collective call that was entered last gives so much to a task, and no messages carry it.
    void block(TaskId to, Bytes bytes) noexcept;

    // One record for what enter(), leave(), sent(), received(), send_ended() and collective()
    // record in several, for a program whose calls are observed (kNumberedByTag). The beginning of
    // a call and its part have one time. If several records are needed, because the stream wraps,
    // has too many lines or has no sites, they are recorded instead. False: do not record the end
    // of the call. `open` is set if it is not null.
    bool call(const CallRecord& call, OpenCall* open = nullptr) noexcept;
    // Ends a call in the record of its beginning, which becomes a kWholeCall. The line of `end`
    // must be that of the beginning. False: nothing is recorded, because another record follows the
    // one of the beginning, a value does not fit, or recording has stopped. Then use call(). For
    // the thread that has recorded the beginning.
    bool end_call(const OpenCall& open, const CallRecord& end) noexcept;

    // A light or colour that is out of range is recorded as none.
    void marker(int light, int color, std::string_view text) noexcept;
    void progress(std::int64_t done, std::int64_t total) noexcept;
    // False: not recorded.
    bool enter_region(std::string_view name, const void* site) noexcept;
    bool leave_region(std::string_view name) noexcept;
    bool count(std::string_view name, double value) noexcept;

    // For the program itself: continue at that level (0: the job's), or stop. False: the job is not
    // traced.
    bool start(int level) noexcept;
    bool stop() noexcept;

  private:
    // Returns the recorder for events that are recorded at `level` and above; null: do not record
    // them.
    Recorder* at_level(int level) noexcept;
    // The same for states, which not every thread has.
    Recorder* for_states(int level) noexcept;
    bool call_in_several(const CallRecord& call) noexcept;
    // Returns the number of the record that defines the line; 0: it cannot be defined.
    std::uint32_t define_line(Recorder& recorder, const CallLine& line) noexcept;
    void open(std::uint32_t word) noexcept;
    void open_stream(std::uint32_t word);
    void define_calls();
    // Defines the region of a call of MPI when it is entered for the first time, because a program
    // uses few of them.
    void define_mpi_call(Recorder& recorder, std::uint32_t region) noexcept;
    std::uint32_t define(Recorder& recorder, Defined what, std::uint32_t id, std::uint64_t b,
                         std::string_view text);
    void say_all(Recorder& recorder);
    void repeat_definitions(Recorder& recorder);
    void say_name(Recorder& recorder, ContextId context, std::string_view name, bool begins);
    std::uint16_t site_of(Recorder& recorder, const void* address) noexcept;
    std::uint32_t region_of(Recorder& recorder, std::string_view name) noexcept;
    static void forget_in_child() noexcept;

    struct Definition {
        Record record;
        std::string text;
    };
    // Created when the first stream is opened; never destroyed.
    struct Tables {
        SiteTable sites;
        NameTable regions;
        NameTable paths;
        NameTable counters;
        std::array<std::atomic<bool>, kLastCall + 1> mpi_calls{};  // true: defined
        std::vector<Definition> definitions;  // protected by the tracer's mutex
        std::vector<std::unique_ptr<Recorder>> recorders;
    };

    static constexpr std::atomic<std::uint32_t> kOff{0};

    std::atomic<const std::atomic<std::uint32_t>*> word_{&kOff};
    std::atomic<std::uint32_t> opened_{0};  // the word that recorder_ belongs to
    std::atomic<int> level_{0};
    std::atomic<int> own_level_{-1};  // the level that the program has set; -1: none
    std::atomic<Recorder*> recorder_{nullptr};
    std::atomic<const void*> thread_with_states_{nullptr};  // null: any thread
    Tables* tables_ = nullptr;
    std::map<ContextId, std::string>* names_ = nullptr;  // made with the first; never destroyed
    std::string* job_directory_ = nullptr;
    TaskId task_ = -1;
    std::atomic<std::uint32_t> laps_{0};  // begun since the definitions were last repeated
    std::mutex mutex_;
};

}  // namespace poe::trace
