// The trace format: stream header and record, as tasks and daemons write them and as readers read
// them. FORMAT.md describes it for authors of other tools. Pure: no file is accessed here.
//
// A stream is a header page and an array of records of 24 bytes. Its file is mapped and shared, so
// committed records remain, however the task ends.
//
// Writing:
//   1. Take n record numbers with one atomic addition to `reserved`.
//   2. Fill the records of these numbers, except `stamp`.
//   3. Store each `stamp` with release.
// Invariant: the record with number k is at index k % capacity. It is complete if the mark in its
// stamp is mark_of(k / capacity). Otherwise it is not written yet, or never will be because its
// writer was killed. Any number of threads may write, and a reader trusts only the marks.
//
// In a stream that wraps, a writer stores a mark of 0 in each record before step 2, if the record
// has one of the lap before. A reader therefore never sees parts of two records
// (Stream::read_changing).
//
// Otherwise a record changes only if it is the beginning of a call, and at most once (kWholeCall):
//   1. The thread that has written it finds at the end of the call that no later record is
//      reserved.
//   2. It stores a mark of 0, so that the record is a hole.
//   3. It fills the record and stores the stamp as above, with the same mark and time.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/data_flow.hpp"
#include "base/types.hpp"

namespace poe::trace {

inline constexpr std::array<char, 8> kMagic{'P', 'O', 'E', 'T', 'R', 'A', 'C', 'E'};
inline constexpr std::uint32_t kVersion = 9;
inline constexpr std::uint32_t kOldestVersion = 1;  // oldest version that readers support
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::size_t kHeaderBytes = 4096;  // streams in a file begin at multiples of it

enum class StreamKind : std::uint32_t {
    kJob = 1,      // no records: `length` bytes of JSON, see FORMAT.md
    kNode = 2,     // written by the daemon of a node: clocks, statistics, ends of tasks
    kTask = 3,     // written by a task
    kSamples = 4,  // written by the sampler of a node: call stacks and counters of its tasks
};

enum class Kind : std::uint8_t {
    kNone = 0,
    kEnter = 1,       // a: region; extra: call site, 0 none; b: pair(peer, type), kNobody for none
    kLeave = 2,       // a: region; b: bytes moved, or 0
    kSend = 3,        // detail: class; extra: number; a: destination; b: pair(type, bytes)
    kReceive = 4,     // detail: class; extra: number; a: source; b: pair(type, bytes)
    kCollective = 5,  // after its kEnter. detail: collective_detail(); extra: number of the
                      // call in its group, modulo 65536; a: root or kNobody; b: pair(group, bytes)
    kBytes = 6,       // after a record whose bytes are kManyBytes. b: the bytes
    kText = 7,        // detail: how many of the 14 bytes after it are text; after its owner
    kDefine = 8,      // detail: Defined; a: id; extra: bytes of text that follow; b: see Defined
    kMarker = 9,      // detail: light; extra: color; a: bytes of text that follow
    kProgress = 10,   // detail 0: b is the amount done; detail 1, after it: b is the total
    kCounter = 11,    // detail 0: b holds a double, 1: an int64; a: counter
    kSystem = 12,     // detail: Metric; a: task, or kNobody for the node; b: sum since the start
    kClock = 13,      // a: round trip, ns; b: int64, this node's clock minus the home node's, ns
    kTracing = 14,    // detail 1: begins here, 0: stops here
    kLost = 15,       // b: how many records are missing before this one
    kDoing = 16,      // detail: an observed state (Doing); a: task
    kEnded = 17,      // detail 0: extra is an exit status, 1: a signal; a: task
    kSendEnded = 18,  // the program has learned that a nonblocking send ended. detail:
                      // class; extra: number; a: destination
    kContext = 19,  // after a kEnter, kSend, kReceive or kSendEnded, and after its kBytes, if these
                    // are about a communicator or request. a: request, 0 none; b: context
    kSample = 20,   // detail: kSampleWaiting and so on; extra: how many samples it stands
                    // for; a: task; b: pair(call path, thread)
    kSampling = 21,  // detail: SamplingFact; a: task, or kNobody for the node; b: see SamplingFact
    kCall = 22,      // the beginning or the end of a call, with a message or collective operation.
                     // detail: call_detail(); extra: as in the kSend and so on that it stands for;
                     // a: number of the kDefine record of its line; b: pair(request, bytes)
    kCarriedOut =
        23,  // how the collective call around it is carried out from now on. a: region that names
             // the path or the algorithm; b: pair(round, rounds), 0 if it has none
    kWholeCall =
        24,  // a call from its beginning to its end; the time is that of the beginning. It replaces the
             // kCall of the beginning. extra, a: as in a kCall; detail, b: see WholeCall
    kBlock = 25,  // what the collective call around it gives to one task, if the members know their
                  // own lengths only and no messages carry the data. a: the task; b: bytes
};
inline constexpr std::uint8_t kLastKind = 25;

// Which part of the collective operation of its kCollective a region covers.
enum class Phase : std::uint8_t {
    kWhole = 0,   // from its beginning to its end
    kStarts = 1,  // a nonblocking call: starts the operation
    kEnds = 2,    // waits for the end of an operation that was started before
};

//   detail of a kCollective:  data flow 7..2 | phase 1..0
// The data flow is that of an operation that a persistent request starts, because the name of the
// call that starts it does not tell. It is kNone if the name tells.
constexpr std::uint8_t collective_detail(Phase phase, DataFlow flow = DataFlow::kNone) noexcept {
    return static_cast<std::uint8_t>(static_cast<unsigned>(flow) << 2 |
                                     static_cast<unsigned>(phase));
}
constexpr Phase phase_of_collective(std::uint8_t detail) noexcept {
    return static_cast<Phase>(detail & 3u);
}
constexpr DataFlow flow_of_collective(std::uint8_t detail) noexcept {
    const unsigned flow = detail >> 2;
    return flow < kDataFlows ? static_cast<DataFlow>(flow) : DataFlow::kNone;
}

// What a kCall says besides the beginning or the end of the call.
enum class CallPart : std::uint8_t {
    kNone = 0,
    kSend = 1,
    kReceive = 2,
    kSendEnded = 3,
    kCollective = 4,        // Phase::kWhole
    kCollectiveStarts = 5,  // Phase::kStarts
    kCollectiveEnds = 6,    // Phase::kEnds
};
inline constexpr std::uint8_t kLastCallPart = 6;

//   detail of a kCall:  data flow 7..5 | part 4..2 | the call ends 1 | the call begins 0
// The data flow is that of the kCollective that the kCall stands for.
constexpr std::uint8_t call_detail(CallPart part, bool begins, bool ends,
                                   DataFlow flow = DataFlow::kNone) noexcept {
    return static_cast<std::uint8_t>(static_cast<unsigned>(flow) << 5 |
                                     static_cast<unsigned>(part) << 2 | (ends ? 2u : 0u) |
                                     (begins ? 1u : 0u));
}
constexpr bool call_begins(std::uint8_t detail) noexcept {
    return (detail & 1u) != 0;
}
constexpr bool call_ends(std::uint8_t detail) noexcept {
    return (detail & 2u) != 0;
}
constexpr std::uint8_t part_of_call(std::uint8_t detail) noexcept {
    return detail >> 2 & 7u;
}
constexpr DataFlow flow_of_call(std::uint8_t detail) noexcept {
    return flow_of_collective(static_cast<std::uint8_t>(detail >> 5 << 2));
}

// The object that kDefine names. Ids are local to the stream.
enum class Defined : std::uint8_t {
    kRegion = 1,   // b: 0 an MPL call, 1 a collective call, 2 of the user
    kCounter = 2,  // text: name
    kSite = 3,     // b: address within the object file; text: the object's path
    kLine = 4,     // a site whose line is known; a: a site's id. b: line; text: source file
    kPath = 5,     // a call path; b: pair(path of the caller, 0 for none; site)
    // What calls have in common; a: region; b: pair(peer, type). A kContext follows: a: root or
    // kNobody; b: pair(site, context). It has no id: a kCall names the record itself.
    kCallLine = 6,
    // The name of a communicator, window or file. b: its context. a: 0, or 1 if another object has
    // this context from now on, which has no name yet. It has no id.
    kCommunicator = 7,
};

// Bits of a kSample. A sample without kSampleWaiting was taken while the thread ran.
inline constexpr std::uint8_t kSampleWaiting = 1;   // the thread slept
inline constexpr std::uint8_t kSampleCut = 2;       // the outermost callers are not known
inline constexpr std::uint8_t kSampleInKernel = 4;  // the thread was in a system call

// What a kSampling says about the samples of a task or node.
enum class SamplingFact : std::uint8_t {
    kPeriod = 1,      // b: ns of a thread's time that a sample stands for
    kLost = 2,        // b: samples so far that found no room in the kernel's buffer
    kCost = 3,        // b: processor time of the sampler so far, ns
    kNoKernel = 4,    // the kernel does not allow samples in system calls
    kNoCounters = 5,  // the computer offers no hardware counters
    kNoSleepers = 6,  // the kernel does not allow to look at sleeping threads
};

// Sums since the start of the task or node; times in ns, the rest in bytes or events.
enum class Metric : std::uint8_t {
    kCpuUser = 1,
    kCpuSystem = 2,
    kSwitchesVoluntary = 3,
    kSwitchesForced = 4,
    kFaultsMinor = 5,
    kFaultsMajor = 6,
    kMemory = 7,  // bytes now, not a sum
    kDiskRead = 8,
    kDiskWritten = 9,
    kNetworkIn = 10,
    kNetworkOut = 11,
    kProcessors = 12,  // processors of a node that tasks may use, not a sum
    // Counted for tasks by the sampler, with all threads and child processes.
    kCycles = 13,
    kInstructions = 14,
    kCacheMisses = 15,
    kTaskClock = 16,  // processor time, ns
    kPageFaults = 17,
    kContextSwitches = 18,
    // Counted by the daemon.
    kPacketsIn = 19,  // of all network interfaces of a node but the loopback
    kPacketsOut = 20,
    kSystemCalls = 21,  // of a task, where the kernel lets the daemon count them
};

// The daemon's observation of a task that records nothing itself.
enum class Doing : std::uint8_t { kRuns = 1, kSleeps = 2, kDisk = 3, kStopped = 4 };

inline constexpr std::uint32_t kNobody = 0xffffffff;
inline constexpr std::uint32_t kManyBytes = 0xffffffff;
// Classes of messages: the program's own messages, and those that the library sends for collective
// calls and windows.
inline constexpr std::uint8_t kUserMessages = 0;
inline constexpr std::uint8_t kCollectiveMessages = 1;
// The program's own messages as an observer sees them: they are counted among those with the same
// context and type, because a message of another library does not carry a number.
inline constexpr std::uint8_t kNumberedByTag = 2;
constexpr std::uint8_t class_of_message(std::uint8_t detail) noexcept {
    return detail == kNumberedByTag ? kUserMessages : detail;
}
// Collective operations of MPI: the group in their kCollective, by the context of the communicator.
constexpr std::uint32_t group_of_context(std::uint32_t context) noexcept {
    return 0x40000000u | context;
}
// Smaller region ids are those of MPL's and MPI's calls (library_regions.hpp); the program's
// regions follow. Before version 3 they began at 256.
inline constexpr std::uint32_t kFirstUserRegion = 4096;
// The regions of kCarriedOut records; a task has at most 3072 regions of the program.
inline constexpr std::uint32_t kFirstPathRegion = 8192;

constexpr std::uint64_t pair(std::uint32_t high, std::uint32_t low) noexcept {
    return std::uint64_t{high} << 32 | low;
}
constexpr std::uint32_t high(std::uint64_t both) noexcept {
    return static_cast<std::uint32_t>(both >> 32);
}
constexpr std::uint32_t low(std::uint64_t both) noexcept {
    return static_cast<std::uint32_t>(both);
}

// What a kWholeCall says besides its line and number.
//
//   detail:              part 7..2 | 0 in bit 1 | b has a request 0
//   b without a request: duration in ns 63..32 | bytes 31..0
//   b with a request:    request 63..42 | duration in ns 41..22 | bytes 21..0
struct WholeCall {
    CallPart part = CallPart::kNone;
    std::uint32_t request = 0;  // 0: none
    std::uint64_t duration = 0;
    std::uint64_t bytes = 0;

    static constexpr int kRequestBits = 22;
    static constexpr int kShortDurationBits = 20;
    static constexpr int kShortBytesBits = 22;

    // True if all values fit their bits.
    constexpr bool fits() const noexcept {
        return request == 0 ? duration >> 32 == 0 && bytes < kManyBytes
                            : request >> kRequestBits == 0 && duration >> kShortDurationBits == 0 &&
                                  bytes >> kShortBytesBits == 0;
    }
    constexpr std::uint8_t detail() const noexcept {
        return static_cast<std::uint8_t>(static_cast<unsigned>(part) << 2 |
                                         (request != 0 ? 1u : 0u));
    }
    constexpr std::uint64_t packed() const noexcept {
        if (request == 0) return duration << 32 | bytes;
        return (std::uint64_t{request} << kShortDurationBits | duration) << kShortBytesBits | bytes;
    }
    static constexpr WholeCall unpacked(std::uint8_t detail, std::uint64_t b) noexcept {
        WholeCall call{.part = static_cast<CallPart>(detail >> 2)};
        if ((detail & 1u) == 0) {
            call.duration = b >> 32;
            call.bytes = b & 0xffffffff;
        } else {
            call.request = static_cast<std::uint32_t>(b >> (kShortDurationBits + kShortBytesBits));
            call.duration = b >> kShortBytesBits & ((std::uint64_t{1} << kShortDurationBits) - 1);
            call.bytes = b & ((std::uint64_t{1} << kShortBytesBits) - 1);
        }
        return call;
    }
};
// True if a part belongs to the beginning of its call; the others belong to the end.
constexpr bool is_at_beginning(CallPart part) noexcept {
    return part == CallPart::kSend || part == CallPart::kCollective ||
           part == CallPart::kCollectiveStarts;
}

//   stamp:  mark 63..48 | time 47..0
// time is in ns since the origin in the header, modulo 2^48 (78 hours); a reader unwraps it.
constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << 48) - 1;
constexpr std::uint16_t mark_of(std::uint64_t lap) noexcept {
    return static_cast<std::uint16_t>(lap % 65535 + 1);
}
constexpr std::uint64_t make_stamp(std::uint64_t lap, std::uint64_t time) noexcept {
    return std::uint64_t{mark_of(lap)} << 48 | (time & kTimeMask);
}

struct Record {
    std::uint64_t stamp = 0;
    Kind kind = Kind::kNone;
    std::uint8_t detail = 0;
    std::uint16_t extra = 0;
    std::uint32_t a = 0;
    std::uint64_t b = 0;

    std::uint16_t mark() const noexcept { return static_cast<std::uint16_t>(stamp >> 48); }
    std::uint64_t time() const noexcept { return stamp & kTimeMask; }
};
static_assert(sizeof(Record) == 24 && alignof(Record) == 8);
// The time at which the event of a record ends, modulo 2^48.
inline std::uint64_t last_time_of(const Record& record) noexcept {
    if (record.kind != Kind::kWholeCall) return record.time();
    return (record.time() + WholeCall::unpacked(record.detail, record.b).duration) & kTimeMask;
}
static_assert(std::endian::native == std::endian::little, "traces are written as memory is");

// Text is stored in kText records after the record that owns it, from byte 10 of each.
inline constexpr std::size_t kTextBytes = 14;
inline constexpr std::size_t kTextAt = 10;
constexpr std::size_t text_records(std::size_t bytes) noexcept {
    return (bytes + kTextBytes - 1) / kTextBytes;
}
inline Record text_record(std::string_view part) noexcept {
    Record record{.kind = Kind::kText, .detail = static_cast<std::uint8_t>(part.size())};
    std::memcpy(reinterpret_cast<char*>(&record) + kTextAt, part.data(), part.size());
    return record;
}
inline std::string_view text_of(const Record& record) noexcept {
    const std::size_t bytes = record.detail < kTextBytes ? record.detail : kTextBytes;
    return {reinterpret_cast<const char*>(&record) + kTextAt, bytes};
}

// The first page of a stream. Texts end with a zero byte or fill their field.
struct StreamHeader {
    std::array<char, 8> magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t byte_order = kByteOrder;
    std::uint32_t header_bytes = kHeaderBytes;
    std::uint32_t record_bytes = sizeof(Record);
    StreamKind kind = StreamKind::kTask;
    TaskId task = -1;  // of a task's stream
    NodeIndex node = 0;
    std::int32_t tasks = 0;  // of the whole job
    std::int32_t level = 0;
    std::uint32_t wraps = 0;     // 1: only the last `capacity` records are kept
    std::uint64_t capacity = 0;  // records; without wrapping, the most that a task may write
    std::uint64_t length = 0;    // bytes after the header; 0 while the stream is being written
    std::uint64_t origin = 0;    // CLOCK_MONOTONIC, ns: time 0 of the records
    std::uint64_t wall = 0;      // CLOCK_REALTIME at that moment, ns
    std::int64_t process = 0;
    std::array<char, 64> job{};
    std::array<char, 64> node_name{};
    std::array<char, 256> program{};
    // Words that change while the stream is written, each in a cache line of its own.
    alignas(64) std::atomic<std::uint64_t> reserved{0};  // record numbers given to writers so far
    alignas(64) std::atomic<std::uint64_t> lost{0};      // records for which there was no room
    // Since version 2. The process that gathers the stream sets the sums (block_sums.hpp).
    alignas(64) std::uint32_t block_bytes = 0;  // per block with a sum; 0: there are none
    std::uint32_t header_sum = 0;
    std::uint32_t sums_sum = 0;
    std::uint32_t sharers = 0;    // streams that grow on the same disk; 0: unknown
    std::uint64_t last_time = 0;  // in a gathered stream: the latest time of its records
};
static_assert(sizeof(StreamHeader) <= kHeaderBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace poe::trace
