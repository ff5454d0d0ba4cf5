// See observed_memory.hpp.
#include "partition_manager/daemon/observed_memory.hpp"

#include <algorithm>
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

// True if the calls that the tables describe are all that the task does.
bool nothing_else_acts(pid_t process, const ObservedTables& tables) {
    if (tables.many_threads == 0) return true;
    if (tables.several_callers != 0 ||
        tables.library_threads_count > ObservedTables::kMostLibraryThreads)
        return false;
    std::vector<pid_t> left_out(tables.library_threads.begin(),
                                tables.library_threads.begin() + tables.library_threads_count);
    left_out.push_back(tables.caller);
    return other_threads_sleep(process, left_out);
}

}  // namespace

ObservedEvidence read_observed_memory(const TaskSlot& slot) {
    ObservedEvidence evidence;
    const std::uint64_t calls = slot.calls.load(std::memory_order_acquire);
    const std::uint64_t address = slot.observed_tables.load(std::memory_order_acquire);
    const pid_t process = slot.pid;
    ObservedTables tables;
    if (address == 0 || process <= 0 || !read_memory(process, address, &tables, 1) ||
        tables.magic != ObservedTables::kMagic || tables.needs_count > ObservedTables::kMostNeeds)
        return evidence;
    evidence.wildcards = static_cast<std::uint32_t>(tables.wildcards);
    evidence.one_suffices = tables.one_suffices != 0;
    for (std::size_t i = 0; i < tables.needs_count; ++i) {
        evidence.needs.push_back(tables.needs[i]);
        if (tables.needs[i].kind > ObservedNeed::Kind::kAll)
            evidence.needs.back().kind = ObservedNeed::Kind::kUnknown;
    }
    if (!add_lines(process, tables.sends, evidence.sends) ||
        !add_lines(process, tables.receives, evidence.receives))
        return evidence;
    const auto comms = entries_of<ObservedCommEntry>(process, tables.comms);
    if (!comms) return evidence;
    for (const ObservedCommEntry& entry : *comms) {
        ObservedComm comm;
        if (!read_memory(process, entry.address, &comm, 1)) return evidence;
        evidence.comms.push_back({comm.context, comm.operations});
    }
    if (!nothing_else_acts(process, tables)) return evidence;
    // Another thread may have called meanwhile.
    ObservedTables again;
    if (!read_memory(process, address, &again, 1) ||
        again.several_callers != tables.several_callers)
        return evidence;
    evidence.known = slot.calls.load(std::memory_order_acquire) == calls;
    return evidence;
}

}  // namespace poe::pm
