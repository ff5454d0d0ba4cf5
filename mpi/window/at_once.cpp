// Calls that need no other task; see at_once.hpp.
#include "mpi/window/at_once.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "mpi/collective/plain_call.hpp"
#include "mpi/datatype/predefined.hpp"
#include "mpi/object/handle.hpp"
#include "mpi/process/environment.hpp"
#include "mpi/window/elements.hpp"
#include "mpi/window/epochs.hpp"
#include "mpi/window/origin.hpp"
#include "mpi/window/other_process.hpp"
#include "mpi/window/shared_memory.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::mpi {
namespace {

// What the mailbox of the target gets. `element` and `operation` matter for accumulates.
Mail mail_for(AccessKind kind, const Place& place) noexcept {
    Mail mail;
    mail.kind = kind;
    mail.bytes = static_cast<std::uint32_t>(place.bytes);
    mail.displacement = place.at;
    return mail;
}

}  // namespace

bool put_into_process(comm::Runtime& runtime, Window& window, int rank, const Place& place,
                      const void* given) noexcept {
    WindowMember& member = *place.member;
    const Mail mail = mail_for(AccessKind::kPut, place);
    const auto* const data = static_cast<const std::byte*>(given);
    if (place.bytes > kMostBatchedBytes)
        return move_at_once(runtime, window, rank, mail, place.bytes, data, nullptr);
    if (rank == window.rank() || member.process == 0 || place.bytes == 0 ||
        !member.batch.has_room(place.bytes))
        return false;
    try {
        member.batch.add(mail, data);
    } catch (const std::bad_alloc&) {
        return false;
    }
    window.used = true;
    return true;
}

bool get_from_process(comm::Runtime& runtime, Window& window, int rank, const Place& place,
                      void* fetched) noexcept {
    const Mail mail = mail_for(AccessKind::kGet, place);
    auto* const bytes = static_cast<std::byte*>(fetched);
    if (place.bytes <= kMostInMail)
        return exchange_at_once(runtime, window, rank, mail, nullptr, bytes);
    return move_at_once(runtime, window, rank, mail, place.bytes, nullptr, bytes);
}

bool accumulate_at_once(comm::Runtime& runtime, Window& window, const void* given, void* fetched,
                        const PlainTarget& target, MPI_Op operation) noexcept {
    Place place;
    if (!find_place(window, target, place)) return false;
    const auto code = static_cast<std::uint16_t>(value_of(operation));
    const auto element = static_cast<std::uint16_t>(value_of(target.type));
    if (code != value_of(operation)) return false;  // an operation of the program
    const Change& change = repeated_change(code, element);
    if (!change.known()) return false;
    if (place.member->mapped == nullptr) {
        if (fetched == nullptr || place.bytes > kMostInMail) return false;
        Mail mail = mail_for(change.keeps ? AccessKind::kFetch : AccessKind::kGetAccumulate, place);
        mail.element = element;
        mail.operation = code;
        return exchange_at_once(runtime, window, target.rank, mail,
                                static_cast<const std::byte*>(given),
                                static_cast<std::byte*>(fetched));
    }
    std::byte* const memory = place.member->mapped + place.at;
    {
        const AccumulateLock lock(window, target.rank, true);
        if (fetched != nullptr) copy_elements(fetched, memory, place.bytes);
        change.apply(given, memory, place.bytes);
    }
    note_store();
    window.used = true;
    return true;
}

bool compare_and_swap_at_once(comm::Runtime& runtime, Window& window, const void* given,
                              const void* compared, void* fetched,
                              const PlainTarget& target) noexcept {
    Place place;
    if (!find_place(window, target, place) ||
        !is_comparable(*find_predefined_type(value_of(target.type))))
        return false;
    if (place.member->mapped == nullptr) {
        std::array<std::byte, 2 * kMostInMail> both;
        if (place.bytes > kMostInMail) return false;
        copy_elements(both.data(), given, place.bytes);
        copy_elements(both.data() + place.bytes, compared, place.bytes);
        Mail mail = mail_for(AccessKind::kCompareAndSwap, place);
        mail.element = static_cast<std::uint16_t>(value_of(target.type));
        return exchange_at_once(runtime, window, target.rank, mail, both.data(),
                                static_cast<std::byte*>(fetched));
    }
    {
        const AccumulateLock lock(window, target.rank, true);
        swap_if_equal(place.member->mapped + place.at, given, compared, fetched, place.bytes);
    }
    note_store();
    window.used = true;
    return true;
}

bool flush_all_at_once(comm::Runtime& runtime, Window& window, bool local) {
    if (!has_locks(window) || has_open_operations(window)) return false;
    if (!local) std::atomic_thread_fence(std::memory_order_release);
    look_at_others(runtime, window);
    return true;
}

bool fence_at_once(comm::Runtime& runtime, Window& window, int assertion, ::poe::Call shown,
                   const void* site) noexcept {
    constexpr int kKnown =
        MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    if ((assertion & ~kKnown) != 0 || window.size() < 2 || has_locks(window) ||
        window.access_started || window.exposed || has_open_operations(window))
        return false;
    PlainCall barrier;
    barrier.what = ::poe::Call::kSync;
    barrier.shown = {shown, site};
    if (!make_plain_call(runtime, *window.comm, barrier)) return false;
    window.used = false;
    window.fenced = (assertion & MPI_MODE_NOSUCCEED) == 0;
    return true;
}

}  // namespace poe::mpi
