// See waiting_threads.hpp.
#include "partition_manager/daemon/waiting_threads.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "base/segment/thread_waits_table.hpp"
#include "partition_manager/daemon/observed_threads.hpp"
#include "partition_manager/daemon/process_memory.hpp"

namespace poe::pm {
namespace {

constexpr int kLooksAtTurn = 300;

bool is_noted(const ThreadWaitsTable& table) {
    return table.magic == ThreadWaitsTable::kMagic && table.noted == table.changes &&
           table.count > 0 && table.count <= ThreadWaitsTable::kMostThreads;
}

// True if at some moment during the call no thread had the turn. A thread that polls without a
// pause has it most of the time, but gives it up between two polls.
bool turn_is_free(pid_t process, std::uint64_t address, const ThreadWaitsTable& table) {
    const std::uint64_t place = address + offsetof(ThreadWaitsTable, looks);
    std::uint32_t turn = 0;
    std::uint64_t before = 0;
    std::uint64_t looks = 0;
    if (!read_memory(process, place, &before, 1)) return false;
    for (int i = 0; i < kLooksAtTurn; ++i) {
        if (!read_memory(process, table.turn, &turn, 1) || !read_memory(process, place, &looks, 1))
            return false;
        if ((turn & table.turn_held) == 0 || looks - before >= 2) return true;
    }
    return false;
}

ThreadWait noted_wait(const WaitingThread& thread) {
    ThreadWait wait;
    wait.doing.call = thread.call <= kLastCall ? static_cast<Call>(thread.call) : Call::kNone;
    wait.doing.peer = thread.peer;
    wait.doing.type = thread.type;
    wait.doing.bytes = thread.bytes;
    wait.doing.site = thread.site;
    wait.doing.context = thread.context;
    wait.communicator = {thread.communicator.data(),
                         ::strnlen(thread.communicator.data(), thread.communicator.size())};
    if (thread.awaited_kind > static_cast<std::uint32_t>(Awaited::Kind::kAll)) return wait;
    wait.awaited.kind = static_cast<Awaited::Kind>(thread.awaited_kind);
    wait.awaited.peer = thread.awaited_peer;
    wait.awaited.type = thread.awaited_type;
    wait.awaited.context = thread.awaited_context;
    return wait;
}

}  // namespace

ObservedEvidence read_waiting_threads(const TaskSlot& slot) {
    ObservedEvidence evidence;
    evidence.many_threads = true;
    const std::uint64_t address = slot.thread_waits.load(std::memory_order_acquire);
    const pid_t process = slot.pid;
    ThreadWaitsTable table;
    if (process <= 0 || !read_memory(process, address, &table, 1) || !is_noted(table))
        return evidence;
    // The main thread first, then in the order in which they have begun.
    const auto end = table.threads.begin() + table.count;
    std::sort(table.threads.begin(), end, [process](const auto& one, const auto& other) {
        return std::pair(one.thread != process, one.thread) <
               std::pair(other.thread != process, other.thread);
    });
    std::vector<pid_t> waiting{table.progress_thread};
    for (auto thread = table.threads.begin(); thread != end; ++thread) {
        waiting.push_back(thread->thread);
        evidence.waits.push_back(noted_wait(*thread));
    }
    // While no thread has the turn, no waiting thread holds another lock, so no sleeping thread
    // waits for such a lock. If the table is still the same then, no call has begun or ended and no
    // message has moved since it was read.
    const auto nothing_moves = [&] {
        ThreadWaitsTable now;
        return turn_is_free(process, address, table) && read_memory(process, address, &now, 1) &&
               now.changes == table.changes && now.noted == table.noted;
    };
    evidence.known = other_threads_sleep(process, waiting, nothing_moves);
    return evidence;
}

}  // namespace poe::pm
