// Making windows; see window_making.hpp.
#include "mpi/window/window_making.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "mpi/communicator/duplication.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/communicator/hints.hpp"
#include "mpi/communicator/numbers.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/window/epochs.hpp"
#include "mpi/window/origin.hpp"
#include "mpi/window/service.hpp"
#include "mpi/window/shared_memory.hpp"
#include "mpi/window/single_copy.hpp"
#include "mpi/window/target.hpp"

namespace poe::mpi {
namespace {

// Parts of an allocated window begin at cache lines of their own.
constexpr std::int64_t kPartAlignment = 64;

// The hints that a window has, with their defaults.
struct WindowHint {
    std::string_view key;
    std::string_view value;
};
constexpr std::array<WindowHint, 7> kWindowHints{{
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
    {"mpi_accumulate_granularity", "0"},
}};

void set_default_hints(Window& window) {
    Info& hints = environment().infos.make();
    for (const WindowHint& each : kWindowHints)
        hints.set(std::string(each.key), std::string(each.value));
    window.info = handle_of<MPI_Info>(static_cast<Object&>(hints));
}

// What a member says about its part, as words.
struct PartRecord {
    std::int64_t base = 0;
    std::int64_t size = 0;
    std::int64_t unit = 1;
    std::uint64_t probe = 0;  // see can_copy_from()
    std::int32_t process = 0;
    std::int32_t code = MPI_SUCCESS;
    std::int32_t noncontiguous = 0;
    std::int32_t refuses_copies = 0;
    // Set with MP_EUILIB=ip, which differs between the jobs of a window that has members of
    // several.
    std::int32_t by_tcp = 0;
    std::int32_t unused = 0;
};
constexpr std::size_t kRecordWords = sizeof(PartRecord) / sizeof(std::int32_t);

Fault check_part(const WindowPart& part) {
    if (part.size < 0)
        return {MPI_ERR_SIZE, "size", std::to_string(part.size) + " is negative", ""};
    if (part.unit <= 0)
        return {MPI_ERR_DISP, "disp_unit", std::to_string(part.unit) + " is not positive",
                "give the size of an element, or 1"};
    if (part.flavor == MPI_WIN_FLAVOR_CREATE && part.base == nullptr && part.size > 0)
        return {MPI_ERR_BASE, "base", "it is a null pointer, but the size is not 0", ""};
    return {};
}

bool is_set(const Info* info, const char* key) {
    const std::string* value = info == nullptr ? nullptr : info->find(key);
    return value != nullptr && *value == "true";
}

// All members' records, at every member. A fault if a member has one.
Fault exchange_parts(comm::Runtime& runtime, Comm& comm, const PartRecord& own, const Fault& fault,
                     std::vector<PartRecord>& all) {
    Words words(kRecordWords);
    std::memcpy(words.data(), &own, sizeof own);
    Contributions records;
    if (Fault lost = gather_words(runtime, comm, words, records)) return lost;
    all.resize(static_cast<std::size_t>(comm.size()));
    std::memcpy(static_cast<void*>(all.data()), records.local.data(), all.size() * sizeof own);
    if (fault) return fault;
    const auto refused = std::find_if(
        all.begin(), all.end(), [](const PartRecord& each) { return each.code != MPI_SUCCESS; });
    if (refused == all.end()) return {};
    return {refused->code, "",
            "the arguments of rank " + std::to_string(refused - all.begin()) + " are wrong",
            "see the message of that member"};
}

bool is_by_tcp(const std::vector<PartRecord>& all) noexcept {
    return std::any_of(all.begin(), all.end(),
                       [](const PartRecord& each) { return each.by_tcp != 0; });
}

// A program need not name its communicators. Watchers number the others in the same way.
std::string words_of(const Comm& comm) {
    if (!comm.name.empty()) return comm.name;
    return "communicator " + std::to_string(comm.context - kFirstMpiContext);
}

// A communicator for the window alone.
MadeComm duplicate_for_window(comm::Runtime& runtime, Comm& parent) {
    Duplication duplication(runtime, parent);
    duplication.start();
    duplication.finish();
    if (duplication.fault()) return {nullptr, duplication.fault()};
    MadeComm made = make_comm(parent, duplication.result());
    if (made.comm != nullptr) set_name(*made.comm, "window of " + words_of(parent));
    return made;
}

// Ends the service of a window. Blocks until no message of an operation uses the memory of this
// task or of the window: until the answers to the others are sent, and the data of operations that
// were accepted have arrived. If a member has ended, the target withdraws what cannot be completed.
void stop_serving(comm::Runtime& runtime, Window& window) {
    while (!window.target->idle()) {
        runtime.messages().progress();
        runtime.pause_between_looks();
    }
    end_serving(runtime, window);
}

bool allocates(int flavor) noexcept {
    return flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
}

// Memory that the program has not asked to share, of this member alone.
Fault allocate_alone(comm::Runtime& runtime, Window& window, const WindowPart& part) {
    PartRecord result;
    Fault fault;
    try {
        window.own_memory = std::make_unique<std::byte[]>(static_cast<Bytes>(part.size) + 1);
    } catch (const std::bad_alloc&) {
        fault = {MPI_ERR_NO_MEM, "size",
                 "there are not " + std::to_string(part.size) + " bytes of memory", ""};
    }
    result.code = fault.code;
    std::vector<PartRecord> results;
    if (Fault any = exchange_parts(runtime, *window.comm, result, fault, results)) return any;
    window.member(window.rank()).mapped = window.own_memory.get();
    return {};
}

// The memory of an allocated window: the members of each node share it, if they may.
Fault allocate(comm::Runtime& runtime, Window& window, const WindowPart& part,
               const std::vector<PartRecord>& all) {
    const bool asked = part.flavor == MPI_WIN_FLAVOR_SHARED;
    if (asked && !on_one_node(runtime, *window.comm))
        return {MPI_ERR_RMA_SHARED, "comm", "its members are on several nodes",
                "make a communicator with MPI_Comm_split_type and MPI_COMM_TYPE_SHARED first"};
    // With MP_EUILIB=ip, messages do not use shared memory, and neither do windows. The exception
    // is MPI_Win_allocate_shared, because its program accesses the memory itself.
    if (window.size() == 1 || (!asked && is_by_tcp(all)))
        return allocate_alone(runtime, window, part);
    std::vector<std::int64_t> sizes;
    for (const PartRecord& each : all) sizes.push_back(each.size);
    const bool apart = !asked || std::all_of(all.begin(), all.end(), [](const PartRecord& each) {
        return each.noncontiguous != 0;
    });
    if (Fault fault = SharedMemory::make(runtime, *window.comm, sizes, apart ? kPartAlignment : 1,
                                         window.memory))
        return fault;
    for (int rank = 0; rank < window.size(); ++rank)
        if (window.memory->has(rank)) window.member(rank).mapped = window.memory->part(rank);
    return {};
}

// A created window: each member accesses the memory of the others on its node by single copy, if
// the system lets all members.
Fault open_to_copies(comm::Runtime& runtime, Window& window, const std::vector<PartRecord>& all) {
    if (window.size() == 1 || is_by_tcp(all)) return {};
    const std::vector<std::int64_t> sizes(all.size(), sizeof(Mailbox));
    std::shared_ptr<SharedMemory> memory;
    if (Fault fault = SharedMemory::make(runtime, *window.comm, sizes, alignof(Mailbox), memory))
        return fault;
    PartRecord result;
    for (int rank = 0; rank < window.size(); ++rank) {
        const PartRecord& each = all[static_cast<std::size_t>(rank)];
        if (memory->has(rank) && !can_copy_from(each.process, each.probe))
            result.refuses_copies = 1;
    }
    std::vector<PartRecord> results;
    if (Fault any = exchange_parts(runtime, *window.comm, result, {}, results)) return any;
    if (std::any_of(results.begin(), results.end(),
                    [](const PartRecord& each) { return each.refuses_copies != 0; }))
        return {};
    window.memory = std::move(memory);
    // Tasks that share cores do not wait for each other by polling.
    const bool polls = runtime.segment() != nullptr && !runtime.segment()->facts().oversubscribed();
    for (int rank = 0; rank < window.size(); ++rank) {
        if (!window.memory->has(rank)) continue;
        window.member(rank).process = all[static_cast<std::size_t>(rank)].process;
        // The memory is new and consists of zeros, which is the state of an empty mailbox.
        if (polls)
            window.member(rank).mailbox = reinterpret_cast<Mailbox*>(window.memory->part(rank));
    }
    return {};
}

// With MP_EUILIB=ip, tasks do not wake each other through shared memory, so locks are messages
// although the memory of MPI_Win_allocate_shared is there.
void share_locks(comm::Runtime& runtime, Window& window) {
    if (window.memory == nullptr || !window.memory->has_all() || runtime.shared_memory() == nullptr)
        return;
    for (int rank = 0; rank < window.size(); ++rank)
        window.member(rank).control = &window.memory->control(rank);
}

Fault set_up_window(comm::Runtime& runtime, Window& window, const WindowPart& part) {
    const Fault fault = check_part(part);
    PartRecord own;
    own.base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(part.base));
    own.size = part.size;
    own.unit = part.unit;
    own.probe = probe_address();
    own.process = ::getpid();
    own.by_tcp = runtime.all_by_tcp() ? 1 : 0;
    own.code = fault.code;
    own.noncontiguous = is_set(part.info, "alloc_shared_noncontig") ? 1 : 0;
    std::vector<PartRecord> all;
    if (Fault any = exchange_parts(runtime, *window.comm, own, fault, all)) return any;
    window.members.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        window.members[i].base = all[i].base;
        window.members[i].size = all[i].size;
        window.members[i].unit = all[i].unit;
    }
    window.values.size = part.size;
    window.values.unit = static_cast<int>(part.unit);
    window.values.flavor = part.flavor;
    if (part.flavor == MPI_WIN_FLAVOR_CREATE) return open_to_copies(runtime, window, all);
    if (!allocates(part.flavor)) return {};
    if (Fault any = allocate(runtime, window, part, all)) return any;
    WindowMember& mine = window.member(window.rank());
    mine.base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(mine.mapped));
    return {};
}

}  // namespace

void add_window_hints(Window& window, const Info* info) {
    std::array<std::string_view, kWindowHints.size()> keys;
    std::transform(kWindowHints.begin(), kWindowHints.end(), keys.begin(),
                   [](const WindowHint& each) { return each.key; });
    add_known_hints(window.info, keys, info);
}

MadeWindow make_window(comm::Runtime& runtime, Comm& comm, const WindowPart& part) {
    const MadeComm made = duplicate_for_window(runtime, comm);
    if (made.comm == nullptr) return {nullptr, made.fault};
    Window& window = window_pool().make();
    window.comm = made.comm;
    Fault fault = set_up_window(runtime, window, part);
    if (!fault) {
        share_locks(runtime, window);
        begin_serving(runtime, window);
        {
            const std::lock_guard guard(environment().lock);
            set_default_hints(window);
            add_window_hints(window, part.info);
        }
        // No operation arrives before its target serves the window.
        fault = meet(runtime, window);
        if (fault) {
            stop_serving(runtime, window);
            leave_early(runtime, window);
        }
    }
    if (!fault) return {&window, {}};
    window_pool().release(window);
    return {nullptr, std::move(fault)};
}

Fault check_freeable(const Window& window) {
    if (window.locks > 0 || window.locked_all || window.access_started || window.exposed)
        return {MPI_ERR_RMA_SYNC, "win", "an epoch of the window is open", "end it first"};
    if (environment().checking && window.fenced && window.used)
        return {MPI_ERR_RMA_SYNC, "win", "operations were made since the last MPI_Win_fence",
                "end that epoch with MPI_Win_fence first"};
    return {};
}

Fault free_window(comm::Runtime& runtime, Window& window) {
    Fault fault = complete_remotely(runtime, window, kAllRanks);
    Fault lost = meet(runtime, window);
    stop_serving(runtime, window);
    if (lost) leave_early(runtime, window);
    window_pool().release(window);
    return fault ? fault : lost;
}

Fault attach(Window& window, void* base, std::int64_t size) {
    if (!window.dynamic())
        return {MPI_ERR_RMA_ATTACH, "win", "it is no dynamic window",
                "make it with MPI_Win_create_dynamic"};
    if (size < 0) return {MPI_ERR_SIZE, "size", std::to_string(size) + " is negative", ""};
    if (base == nullptr && size > 0)
        return {MPI_ERR_BASE, "base", "it is a null pointer, but the size is not 0", ""};
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base));
    const auto next = window.attached.upper_bound(address);
    const bool in_next = next != window.attached.end() && address + size > next->first;
    const bool in_previous = next != window.attached.begin() &&
                             std::prev(next)->first + std::prev(next)->second.size > address;
    if (size > 0 && (in_next || in_previous))
        return {MPI_ERR_RMA_ATTACH, "base", "the memory overlaps memory that is attached already",
                "detach that first"};
    if (!window.attached.emplace(address, AttachedMemory{size}).second)
        return {MPI_ERR_RMA_ATTACH, "base", "memory at this address is attached already",
                "detach that first"};
    return {};
}

Fault detach(Window& window, const void* base) {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base));
    if (window.attached.erase(address) == 1) return {};
    return {MPI_ERR_BASE, "base", "no memory that was attached begins at this address",
            "give the address that was given to MPI_Win_attach"};
}

SharedPart shared_part(const Window& window, int rank) {
    const auto& members = window.members;
    auto found = rank >= 0 ? members.begin() + rank
                           : std::find_if(members.begin(), members.end(),
                                          [](const WindowMember& each) { return each.size > 0; });
    if (found == members.end()) return {};
    return {found->mapped, found->size, found->unit};
}

}  // namespace poe::mpi
