// Operations of this task on windows; see origin.hpp.
#include "mpi/window/origin.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "mpi/point/message_view.hpp"
#include "mpi/point/outcomes.hpp"
#include "mpi/window/other_process.hpp"
#include "mpi/window/shared_memory.hpp"
#include "mpi/window/store_order.hpp"
#include "mpi/window/target.hpp"
#include "mpi/window/target_type.hpp"

namespace poe::mpi {
namespace {

// Data of up to this length travel in the message of their operation.
constexpr Bytes kMostInside = 8192;
// Elements of MPI_Compare_and_swap are integers, logical values and bytes.
constexpr Bytes kMostSwappedBytes = 64;
constexpr auto kOriginFlow = comm::FlowClass::kCollective;

// Memory in packed form: the memory itself if it is contiguous, otherwise a copy.
class Packed {
  public:
    explicit Packed(const OriginBuffer& buffer) {
        if (buffer.type == nullptr) return;
        view_ = view_of(layout_, *buffer.type, buffer.address, buffer.count);
        if (!view_.contiguous()) copy_.resize(view_.size());
    }
    // The data of an origin buffer.
    const std::byte* data() {
        if (copy_.empty()) return view_.start();
        view_.copy_out(0, copy_.data(), copy_.size());
        return copy_.data();
    }
    // The place for a result; store() brings it to the buffer.
    std::byte* place() noexcept { return copy_.empty() ? view_.start() : copy_.data(); }
    void store() noexcept {
        if (!copy_.empty()) view_.copy_in(0, copy_.data(), copy_.size());
    }
    const comm::BufferView& view() const noexcept { return view_; }

  private:
    TypedLayout layout_;
    comm::BufferView view_;
    std::vector<std::byte> copy_;
};

// The bytes from the displacement on that `count` elements of the type touch.
Fault find_bounds(const AccessArguments& arguments, Access& access) {
    const TypeMap& map = arguments.type->map();
    std::int64_t last = 0;
    const std::int64_t lower = map.true_lower_bound();
    std::int64_t upper = 0;
    if (__builtin_mul_overflow(arguments.count - 1, arguments.type->extent(), &last) ||
        __builtin_add_overflow(lower, map.true_extent(), &upper) ||
        __builtin_add_overflow(lower, std::min<std::int64_t>(last, 0), &access.lower) ||
        __builtin_add_overflow(upper, std::max<std::int64_t>(last, 0), &access.upper))
        return {MPI_ERR_COUNT, "target_count", "the elements do not fit into memory", ""};
    return {};
}

Fault range_fault(const Window& window, int rank, const Access& access) {
    return {MPI_ERR_RMA_RANGE, "target_disp",
            window.dynamic()
                ? "the bytes from address " + std::to_string(access.displacement + access.lower) +
                      " on are not attached at rank " + std::to_string(rank)
                : "the bytes " + std::to_string(access.displacement + access.lower) + " to " +
                      std::to_string(access.displacement + access.upper) +
                      " are not in the window of rank " + std::to_string(rank) + ", which has " +
                      std::to_string(window.members[static_cast<std::size_t>(rank)].size) +
                      " bytes",
            window.dynamic() ? "attach the memory with MPI_Win_attach first" : ""};
}

// Describes the operation; a fault if it goes beyond the target's window.
Fault describe(Window& window, const AccessArguments& arguments, Access& access) {
    const WindowMember& member = window.member(arguments.rank);
    access.kind = arguments.kind;
    access.operation = arguments.operation;
    access.count = arguments.count;
    access.element = element_of(*arguments.type);
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(arguments.count, arguments.type->size(), &bytes))
        return {MPI_ERR_COUNT, "target_count", "the data are longer than 2^63 bytes", ""};
    access.bytes = static_cast<std::uint64_t>(bytes);
    if (bytes == 0) return {};
    if (__builtin_mul_overflow(arguments.displacement, member.unit, &access.displacement))
        return {MPI_ERR_DISP, "target_disp", "the displacement does not fit 64 bits", ""};
    if (Fault fault = find_bounds(arguments, access)) return fault;
    std::int64_t first = 0;
    std::int64_t end = 0;
    if (__builtin_add_overflow(access.displacement, access.lower, &first) ||
        __builtin_add_overflow(access.displacement, access.upper, &end) ||
        (!window.dynamic() && (first < 0 || end > member.size)))
        return range_fault(window, arguments.rank, access);
    return {};
}

// The data of the operation in packed form.
struct SentData {
    explicit SentData(const AccessArguments& arguments) : packed(arguments.given) {
        if (arguments.kind != AccessKind::kCompareAndSwap) return;
        Packed other(arguments.compared);
        length = static_cast<std::size_t>(arguments.given.bytes());
        std::memcpy(both.data(), packed.data(), length);
        std::memcpy(both.data() + length, other.data(), length);
    }
    const std::byte* data() { return length == 0 ? packed.data() : both.data(); }

    Packed packed;
    // MPI_Compare_and_swap: two elements.
    std::array<std::byte, 2 * kMostSwappedBytes> both;
    std::size_t length = 0;  // of one
};

// Where this task can access the part of the target: in its own memory, or in that of the other
// process.
bool is_reachable(const Window& window, int rank) noexcept {
    const WindowMember& member = window.members[static_cast<std::size_t>(rank)];
    return rank == window.rank() || member.mapped != nullptr || member.process != 0;
}

Fault carry_out_here(comm::Runtime& runtime, Window& window, const AccessArguments& arguments,
                     const Access& access) {
    const WindowMember& member = window.member(arguments.rank);
    const bool own = arguments.rank == window.rank();
    SentData given(arguments);
    Packed result(arguments.result);
    const TypedLayout layout = arguments.type->layout(arguments.count);
    const std::byte* const data = takes_data(access.kind) ? given.data() : nullptr;
    std::byte* const fetched = gives_data(access.kind) ? result.place() : nullptr;
    Fault fault;
    if (own || member.mapped != nullptr) {
        std::byte* const memory =
            own ? address_in(window, access) : member.mapped + access.displacement;
        if (memory == nullptr) return range_fault(window, arguments.rank, access);
        const AccumulateLock lock(window, arguments.rank, is_atomic(access.kind));
        carry_out(access, memory, layout, data, fetched);
    } else {
        fault =
            access_other_process(runtime, window, arguments.rank, access, layout, data, fetched);
    }
    result.store();
    return fault;
}

void reap(comm::Runtime& runtime, Window& window) {
    std::erase_if(window.pending, [&](const std::shared_ptr<Pending>& each) {
        if (!each->over()) return false;
        const Fault fault = wait_for_pending(runtime, window, *each);
        if (fault && !window.fault) window.fault = fault;
        return true;
    });
}

void begin_message(Window& window, Pending& pending, int rank) {
    pending.rank = rank;
    pending.head =
        comm::SendRequest({pending.message.data(), pending.message.size()}, window.task(rank), 0,
                          window.context(WindowContext::kAccess), kOriginFlow);
}

void expect_answer(comm::MessageLayer& messages, Window& window, Pending& pending,
                   const comm::BufferView& view, std::uint32_t number) {
    pending.has_answer = true;
    pending.answer.reset(view, {window.context(WindowContext::kReply), window.task(pending.rank),
                                static_cast<std::int32_t>(number)});
    messages.start(pending.answer);
}

// The message of the operation: the Access, the datatype, and the data if they are short.
std::vector<std::byte> make_message(Access& access, const AccessArguments& arguments,
                                    SentData& given) {
    TypeNumbers numbers;
    if (arguments.type->code() == 0) numbers = describe_type(*arguments.type);
    access.type_bytes = static_cast<std::uint32_t>(numbers.size() * sizeof(std::int64_t));
    if (arguments.type->code() != 0)
        access.element = static_cast<std::uint16_t>(arguments.type->code());
    const Bytes bytes = access.sent_bytes();
    access.data_inside = bytes <= kMostInside;
    const Bytes inside = access.data_inside ? bytes : 0;
    std::vector<std::byte> message(sizeof(Access) + access.type_bytes + inside);
    std::memcpy(message.data(), &access, sizeof(Access));
    if (!numbers.empty())
        std::memcpy(message.data() + sizeof(Access), numbers.data(), access.type_bytes);
    if (inside > 0)
        std::memcpy(message.data() + sizeof(Access) + access.type_bytes, given.data(), inside);
    return message;
}

Fault send_access(comm::Runtime& runtime, Window& window, const AccessArguments& arguments,
                  Access& access, std::shared_ptr<Pending>& started) {
    comm::MessageLayer& messages = runtime.messages();
    access.number = window.take_number();
    SentData given(arguments);
    auto pending = std::make_shared<Pending>();
    pending->message = make_message(access, arguments, given);
    begin_message(window, *pending, arguments.rank);
    if (gives_data(access.kind)) {
        pending->answer_type = TypeReference(*arguments.result.type);
        expect_answer(messages, window, *pending,
                      view_of(pending->answer_layout, *arguments.result.type,
                              arguments.result.address, arguments.result.count),
                      access.number);
    }
    messages.start(pending->head);
    if (access.sent_bytes() > 0 && !access.data_inside) {
        pending->has_data = true;
        comm::BufferView view;
        pending->data_type = TypeReference(*arguments.given.type);
        view = view_of(pending->data_layout, *arguments.given.type, arguments.given.address,
                       arguments.given.count);
        pending->data = comm::SendRequest(view, window.task(arguments.rank),
                                          static_cast<std::int32_t>(access.number),
                                          window.context(WindowContext::kData), kOriginFlow);
        messages.start(pending->data);
    }
    // An answer with data says that the operation has taken effect.
    if (!gives_data(access.kind)) window.member(arguments.rank).unflushed = true;
    if (pending->over()) return wait_for_pending(runtime, window, *pending);
    window.pending.push_back(pending);
    started = std::move(pending);
    return {};
}

class AccessWork final : public Work {
  public:
    AccessWork(comm::Runtime& runtime, Window& window, std::shared_ptr<Pending> pending)
        : runtime_(runtime), window_(window), pending_(std::move(pending)) {}

    void start(comm::MessageLayer&) override {}
    bool advance(comm::MessageLayer& messages) override {
        if (pending_ == nullptr) return true;
        if (!pending_->over()) {
            messages.end_if_hopeless(pending_->head);
            if (pending_->has_data) messages.end_if_hopeless(pending_->data);
            if (pending_->has_answer) messages.end_if_hopeless(pending_->answer);
        }
        if (!pending_->over()) return false;
        fault_ = wait_for_pending(runtime_, window_, *pending_);
        return true;
    }
    Awaited awaited(const comm::MessageLayer& messages) override {
        return pending_->has_answer ? messages.awaited_by(pending_->answer)
                                    : messages.awaited_by(pending_->head);
    }
    Fault result() override { return fault_; }
    bool calls_program() const noexcept override { return false; }

  private:
    comm::Runtime& runtime_;
    Window& window_;
    std::shared_ptr<Pending> pending_;
    Fault fault_;
};

}  // namespace

Fault start_access(comm::Runtime& runtime, Window& window, const AccessArguments& arguments,
                   std::shared_ptr<Pending>& pending) {
    Access access;
    if (Fault fault = describe(window, arguments, access)) return fault;
    window.used = true;
    if (access.bytes == 0) return {};
    if (is_reachable(window, arguments.rank)) {
        if (gives_data(access.kind)) order_load_after_stores();
        if (takes_data(access.kind)) note_store();
        return carry_out_here(runtime, window, arguments, access);
    }
    if (!window.pending.empty()) reap(runtime, window);
    return send_access(runtime, window, arguments, access, pending);
}

WorkPtr make_access_work(comm::Runtime& runtime, Window& window, std::shared_ptr<Pending> pending) {
    return std::make_unique<AccessWork>(runtime, window, std::move(pending));
}

std::shared_ptr<Pending> send_synchronisation(comm::Runtime& runtime, Window& window, int rank,
                                              AccessKind kind, bool answered) {
    Access access;
    access.kind = kind;
    access.data_inside = true;
    access.number = window.take_number();
    auto pending = std::make_shared<Pending>();
    pending->message.resize(sizeof access);
    std::memcpy(pending->message.data(), &access, sizeof access);
    begin_message(window, *pending, rank);
    if (answered)
        expect_answer(runtime.messages(), window, *pending, {&pending->code, sizeof pending->code},
                      access.number);
    runtime.messages().start(pending->head);
    window.pending.push_back(pending);
    return pending;
}

Fault wait_for_pending(comm::Runtime& runtime, Window& window, Pending& pending) {
    comm::MessageLayer& messages = runtime.messages();
    comm::Outcome outcome = messages.wait(pending.head);
    const auto add = [&](comm::Outcome other) {
        if (outcome == comm::Outcome::kDone) outcome = other;
    };
    if (pending.has_data) add(messages.wait(pending.data));
    if (pending.has_answer) add(messages.wait(pending.answer));
    if (outcome != comm::Outcome::kDone)
        return fault_of(runtime, *window.comm, outcome,
                        pending.answer.source >= 0 && pending.has_answer
                            ? pending.answer.source
                            : window.task(pending.rank));
    const bool refused = pending.has_answer &&
                         (pending.answer.length != pending.answer.view.size() || pending.code != 0);
    if (!refused) return {};
    return {MPI_ERR_RMA_RANGE, "",
            "rank " + std::to_string(pending.rank) +
                " has refused an operation on memory outside of its window",
            window.dynamic() ? "attach the memory with MPI_Win_attach first" : ""};
}

Fault complete_locally(comm::Runtime& runtime, Window& window, int rank) {
    const int first = rank == kAllRanks ? 0 : rank;
    const int last = rank == kAllRanks ? window.size() - 1 : rank;
    for (int each = first; each <= last; ++each) {
        const Fault fault = carry_out_batch(runtime, window, each);
        if (fault && !window.fault) window.fault = fault;
    }
    if (window.pending.empty()) {
        look_at_others(runtime, window);
        return std::exchange(window.fault, {});
    }
    // Copies, because other threads may start operations while this one waits.
    std::vector<std::shared_ptr<Pending>> open;
    for (const auto& each : window.pending)
        if (rank == kAllRanks || each->rank == rank) open.push_back(each);
    if (open.empty()) look_at_others(runtime, window);
    for (const auto& each : open) {
        const Fault fault = wait_for_pending(runtime, window, *each);
        if (fault && !window.fault) window.fault = fault;
    }
    reap(runtime, window);
    return std::exchange(window.fault, {});
}

Fault complete_remotely(comm::Runtime& runtime, Window& window, int rank) {
    Fault fault = complete_locally(runtime, window, rank);
    std::vector<std::shared_ptr<Pending>> asked;
    for (int each = 0; each < window.size(); ++each) {
        WindowMember& member = window.member(each);
        if (!member.unflushed || (rank != kAllRanks && rank != each)) continue;
        member.unflushed = false;
        asked.push_back(send_synchronisation(runtime, window, each, AccessKind::kFlush, true));
    }
    if (asked.empty()) return fault;
    Fault later = complete_locally(runtime, window, rank);
    return fault ? fault : later;
}

}  // namespace poe::mpi
