// See observed_memory.hpp.
#include "partition_manager/daemon/observed_memory.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "partition_manager/daemon/observed_threads.hpp"
#include "partition_manager/daemon/process_memory.hpp"

namespace poe::pm {
namespace {

constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 20;

// Returns the entries of a table that are not empty; nothing if there are too many.
template <typename Entry>
std::optional<std::vector<Entry>> entries_of(pid_t process, const ObservedArray& array) {
    std::vector<Entry> entries;
    if (array.places == 0) return entries;
    if (array.places > kMostPlaces) return std::nullopt;
    entries.resize(array.places);
    if (!read_memory(process, array.address, entries.data(), entries.size())) return std::nullopt;
    std::erase_if(entries, [](const Entry& entry) { return entry.state == 0; });
    if (entries.size() > ObservedEvidence::kMostCounts) return std::nullopt;
    return entries;
}

bool add_lines(pid_t process, const ObservedArray& array, std::vector<LineCount>& lines) {
    const auto entries = entries_of<ObservedLine>(process, array);
    if (!entries) return false;
    for (const ObservedLine& line : *entries)
        lines.push_back({line.context, line.peer, line.tag, line.count});
    return true;
}

bool add_comms(pid_t process, const ObservedArray& array, std::vector<CommCount>& comms) {
    const auto entries = entries_of<ObservedCommEntry>(process, array);
    if (!entries) return false;
    for (const ObservedCommEntry& entry : *entries) {
        ObservedComm comm;
        if (!read_memory(process, entry.address, &comm, 1)) return false;
        comms.push_back({comm.context, comm.operations});
    }
    return true;
}

// True if no thread outside of the calls in the tables can act.
bool nothing_else_acts(pid_t process, const ObservedTables& tables) {
    if (tables.many_threads == 0) return true;
    if (tables.too_many_callers != 0 ||
        tables.library_threads_count > ObservedTables::kMostLibraryThreads)
        return false;
    std::vector<pid_t> left_out(tables.library_threads.begin(),
                                tables.library_threads.begin() + tables.library_threads_count);
    for (const ObservedCaller& caller : tables.callers)
        if (caller.thread != 0 && caller.inside != 0) left_out.push_back(caller.thread);
    return other_threads_sleep(process, left_out, [] { return true; });
}

ThreadWait wait_of(const ObservedCaller& caller) {
    ThreadWait wait;
    wait.one_suffices = caller.wait.one_suffices != 0;
    for (std::size_t i = 0; i < caller.wait.needs_count; ++i) {
        wait.needs.push_back(caller.wait.needs[i]);
        if (caller.wait.needs[i].kind > ObservedNeed::Kind::kAll)
            wait.needs.back().kind = ObservedNeed::Kind::kUnknown;
    }
    return wait;
}

// The same with the call, for one of several threads.
ThreadWait call_of(const ObservedCaller& caller) {
    ThreadWait wait = wait_of(caller);
    wait.doing.call = caller.inside <= kLastCall ? static_cast<Call>(caller.inside) : Call::kNone;
    wait.doing.peer = caller.peer;
    wait.doing.type = caller.tag;
    wait.doing.bytes = caller.bytes;
    wait.doing.site = caller.site;
    wait.doing.context = caller.context;
    wait.communicator = {caller.communicator.data(),
                         ::strnlen(caller.communicator.data(), caller.communicator.size())};
    return wait;
}

// False if the tables cannot be right.
bool add_waits(const ObservedTables& tables, std::vector<ThreadWait>& waits) {
    for (const ObservedCaller& caller : tables.callers) {
        const bool alone = tables.many_threads == 0;
        if (!alone && (caller.thread == 0 || caller.inside == 0)) continue;
        if (caller.wait.needs_count > ObservedWait::kMostNeeds) return false;
        waits.push_back(alone ? wait_of(caller) : call_of(caller));
        if (alone) break;
    }
    return true;
}

}  // namespace

ObservedEvidence read_observed_memory(const TaskSlot& slot) {
    ObservedEvidence evidence;
    const std::uint64_t calls = slot.calls.load(std::memory_order_acquire);
    const std::uint64_t address = slot.observed_tables.load(std::memory_order_acquire);
    const pid_t process = slot.pid;
    ObservedTables tables;
    if (address == 0 || process <= 0 || !read_memory(process, address, &tables, 1) ||
        tables.magic != ObservedTables::kMagic || !add_waits(tables, evidence.waits))
        return evidence;
    evidence.wildcards = static_cast<std::uint32_t>(tables.wildcards);
    evidence.many_threads = tables.many_threads != 0;
    if (!add_lines(process, tables.sends, evidence.sends) ||
        !add_lines(process, tables.receives, evidence.receives) ||
        !add_lines(process, tables.ended, evidence.ended))
        return evidence;
    for (const ObservedArray& array : {tables.comms, tables.windows, tables.files})
        if (!add_comms(process, array, evidence.comms)) return evidence;
    if (!nothing_else_acts(process, tables)) return evidence;
    // A thread may have begun or ended a call meanwhile.
    evidence.known = slot.calls.load(std::memory_order_acquire) == calls &&
                     (calls % 2 == 0 || !evidence.many_threads);
    return evidence;
}

}  // namespace poe::pm
