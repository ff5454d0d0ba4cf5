// The collective operations in shared memory; see shm_collectives.hpp.
#include "collectives/shm/shm_collectives.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/check.hpp"
#include "base/error.hpp"
#include "collectives/call/groups.hpp"
#include "comm/api/api_call.hpp"

namespace poe::collectives {
namespace {

// A cache line arrives from another core within this number of polls. If tasks share cores, there
// are no such polls, because the giver often waits for this member's core.
constexpr int kSpinsBeforeYield = 4;
// In an index of at most this number of members, it is faster if each member sorts its own blocks.
constexpr std::uint32_t kMaxSelfSorted = 4;
// The minimum block, in bytes, for which an index of more than two members uses PairwiseExchange.
// Shorter blocks are exchanged with all members at once (CopyInOut).
constexpr Bytes kLeastOfPairs = Bytes{32} << 10;

// The bytes that all members contribute and get together.
Bytes data_of(const Shape& shape) {
    const Bytes blocks = shape.span(0, shape.n);
    switch (shape.operation) {
        case Operation::kBcast:
            return blocks;
        case Operation::kConcat:
            return (Bytes{shape.n} + 1) * blocks;
        case Operation::kIndex:
            return 2 * Bytes{shape.n} * blocks;
        default:
            return 2 * blocks;
    }
}

// True if one member contributes everything.
bool is_from_root(const Shape& shape) {
    return shape.operation == Operation::kBcast || shape.operation == Operation::kScatter;
}

void tell_of_missing(const std::string& what) {
    std::fprintf(stderr,
                 "ATTENTION: 0032-%d %s. Such calls of this group go another way, which may "
                 "take longer.\n",
                 static_cast<int>(comm::MplError::kNoGroupMemory), what.c_str());
}

class LocalPart final : public GroupSegment::Part {
  public:
    LocalPart(const Shape& shape, const Run& run, const GroupSegment& commons, std::uint32_t me,
              std::byte* scratch)
        : shape_(shape), run_(run), commons_(commons), me_(me), scratch_(scratch) {}

    void give(std::byte* slot) override {
        const Bytes bytes =
            shape_.operation == Operation::kIndex ? shape_.bytes * shape_.n : shape_.bytes;
        if (shape_.operation != Operation::kSync) put(slot, run_.given, bytes);
    }

    void collect(std::byte* result) override {
        switch (shape_.operation) {
            case Operation::kSync:
                break;
            case Operation::kCombine:
                put(result, commons_.slot(0), shape_.bytes);
                for (std::uint32_t r = 1; r < shape_.n; ++r)
                    reduce_into(run_.reduction, result, commons_.slot(r), shape_.bytes, true,
                                scratch_);
                break;
            case Operation::kGather:
            case Operation::kConcat:
                for (std::uint32_t r = 0; r < shape_.n; ++r)
                    put(result + r * shape_.bytes, commons_.slot(r), shape_.bytes);
                break;
            case Operation::kIndex:
                for (std::uint32_t to = 0; to < shape_.n; ++to) {
                    for (std::uint32_t from = 0; from < shape_.n; ++from)
                        put(result + (Bytes{to} * shape_.n + from) * shape_.bytes,
                            commons_.slot(from) + to * shape_.bytes, shape_.bytes);
                }
                break;
            default:
                break;
        }
    }

    Bytes result_bytes() const override {
        switch (shape_.operation) {
            case Operation::kSync:
                return 0;
            case Operation::kCombine:
                return shape_.bytes;
            case Operation::kIndex:
                return shape_.bytes * shape_.n * shape_.n;
            default:
                return shape_.bytes * shape_.n;
        }
    }

    void take(const std::byte* result) override {
        switch (shape_.operation) {
            case Operation::kGather:
                if (is_root()) put(run_.result, result, shape_.bytes * shape_.n);
                break;
            case Operation::kCombine:
                put(run_.result, result, shape_.bytes);
                break;
            case Operation::kConcat:
                put(run_.result, result, shape_.bytes * shape_.n);
                break;
            case Operation::kIndex:
                put(run_.result, result + me_ * shape_.bytes * shape_.n, shape_.bytes * shape_.n);
                break;
            default:
                break;
        }
    }

  private:
    bool is_root() const { return static_cast<Rank>(me_) == shape_.root; }
    const Shape& shape_;
    const Run& run_;
    const GroupSegment& commons_;
    std::uint32_t me_;
    std::byte* scratch_;
};

}  // namespace

ShmCollectives::ShmCollectives(comm::Runtime& runtime, const Group& group, std::uint32_t piece)
    : runtime_(&runtime),
      group_(&group),
      piece_(piece),
      me_(static_cast<std::uint32_t>(group.me)),
      looks_(runtime.segment()->facts().oversubscribed() ? 0 : kSpinsBeforeYield),
      memory_(runtime.segment()->map_common(piece)),
      scratch_(GroupSegment::kLong.slot) {
    const GroupSegment::Sizes few = GroupSegment::short_of(group.size());
    short_.emplace(memory_.data(), group.size(), me_, few);
    std::byte* next = memory_.data() + GroupSegment::bytes_for(group.size(), few);
    long_.emplace(next, group.size(), me_, GroupSegment::kLong);
    next += GroupSegment::bytes_for(group.size(), GroupSegment::kLong);
    lines_.emplace(next, group.size(), me_);
    next += CacheLineExchange::bytes_for(group.size());
    packed_.emplace(next, group.size(), me_, GroupSegment::packed_of(group.size()));
    long_memory_.emplace(*runtime.segment(), piece, memory_.data(), group.size(), me_);
    for (const TaskId task : group.members) {
        indices_.push_back(*runtime.segment()->local_index(task));
        slots_.push_back(&runtime.segment()->slot(indices_.back()));
    }
}

ShmCollectives::~ShmCollectives() {
    if (!long_) return;
    // Members leave the three segments in this order, so the last to leave `long_` knows that all
    // have left the others. All of the memory is set to zero, because in the next group, which may
    // have another size, words lie where data were.
    short_->leave();
    packed_->leave();
    if (!long_->leave()) return;
    const std::uint32_t members = group_->size();
    // All members have made the same calls, so either all have this memory or none.
    long_memory_->clear();
    std::memset(memory_.data(), 0, bytes_for(members));
    runtime_->segment()->give_back_common(piece_);
}

std::optional<std::uint32_t> ShmCollectives::take_memory(comm::Runtime& runtime) {
    try {
        return runtime.segment()->take_common();
    } catch (const Error& error) {
        tell_of_missing(error.what());
        return std::nullopt;
    }
}

Bytes ShmCollectives::bytes_for(std::uint32_t members) noexcept {
    return GroupSegment::bytes_for(members, GroupSegment::short_of(members)) +
           GroupSegment::bytes_for(members, GroupSegment::kLong) +
           CacheLineExchange::bytes_for(members) +
           GroupSegment::bytes_for(members, GroupSegment::packed_of(members));
}

bool ShmCollectives::fits(const Shape& shape) noexcept {
    return fits_at_once(shape) || PipelinedReduce::fits(shape) || PairwiseExchange::fits(shape) ||
           CopyInOut::fits(shape);
}

// True if all contributions and results of the call fit into one call of a GroupSegment.
bool ShmCollectives::fits_at_once(const Shape& shape) noexcept {
    if (!shape.is_regular()) return false;
    const Bytes each = shape.bytes;
    const bool slot = each <= GroupSegment::kLong.room();
    const bool all = each * shape.n <= GroupSegment::kLong.result;
    switch (shape.operation) {
        case Operation::kSync:
            return true;
        case Operation::kBcast:
            return each <= GroupSegment::kLong.result;
        case Operation::kScatter:
            return all;
        case Operation::kReduce:
        case Operation::kCombine:
            return slot;
        case Operation::kPrefix:
        case Operation::kGather:
        case Operation::kConcat:
        case Operation::kShift:
            return slot && all;
        case Operation::kIndex:
            // If blocks are shorter than a cache line, it is less work if one member sorts them
            // all.
            return shape.n > kMaxSelfSorted && each < kLine &&
                   each * shape.n <= GroupSegment::kLong.room() &&
                   each * shape.n * shape.n <= GroupSegment::kLong.result;
    }
    return false;
}

bool ShmCollectives::possible(comm::Runtime& runtime, const Group& group) noexcept {
    if (group.size() < 2 || runtime.shared_memory() == nullptr) return false;
    return std::all_of(group.members.begin(), group.members.end(), [&](TaskId task) {
        return runtime.segment()->node_of(task) == runtime.node();
    });
}

// Returns the segment with the larger depth if the data are short enough.
GroupSegment& ShmCollectives::memory_for(const Shape& shape) noexcept {
    const Bytes given = shape.operation == Operation::kIndex ? shape.bytes * shape.n : shape.bytes;
    return given <= short_->room() ? *short_ : *long_;
}

// The same, for calls in which no member waits for data that depend on its own contribution.
GroupSegment& ShmCollectives::one_way_memory_for(const Shape& shape) noexcept {
    const Bytes room = is_from_root(shape) ? packed_->published_room() : packed_->room();
    const Bytes bytes =
        shape.operation == Operation::kScatter ? shape.bytes * shape.n : shape.bytes;
    return bytes <= room ? *packed_ : memory_for(shape);
}

// The kind of long call; empty if the data fit into one call. Depends on the shape only.
std::optional<PipelineSegment::Kind> ShmCollectives::kind_of(const Shape& shape) noexcept {
    if (fits_at_once(shape)) return std::nullopt;
    if (PipelinedReduce::fits(shape)) return PipelineSegment::kRelayed;
    const bool by_pairs = PairwiseExchange::fits(shape) &&
                          (shape.n == 2 || shape.bytes >= kLeastOfPairs || !CopyInOut::fits(shape));
    return by_pairs ? PipelineSegment::kPaired : PipelineSegment::kStaged;
}

bool ShmCollectives::has_memory_for(const Shape& shape) {
    const std::optional<PipelineSegment::Kind> kind = kind_of(shape);
    if (!kind) return true;
    if (!long_memory_->asked(*kind)) {
        const std::string missing = long_memory_->reserve(*kind);
        const std::uint32_t without = first_without(missing.empty());
        if (without == me_) tell_of_missing(missing);
        if (without == group_->size()) long_memory_->use(*kind);
    }
    return long_memory_->of(*kind) != nullptr;
}

bool ShmCollectives::all_have(bool has) {
    return first_without(has) == group_->size();
}

// Returns the first member whose `has` is false; their number if there is none. Called by all
// members. Blocks.
std::uint32_t ShmCollectives::first_without(bool has) {
    const std::uint64_t call = short_->enter(*this);
    std::memcpy(short_->slot_of(me_, call), &has, sizeof has);
    short_->tell(call, *this);
    std::uint32_t first = group_->size();
    for (std::uint32_t m = group_->size(); m-- > 0;) {
        bool its = false;
        short_->await_told(m, call, *this);
        std::memcpy(&its, short_->slot_of(m, call), sizeof its);
        if (!its) first = m;
    }
    short_->through(call, *this);
    return first;
}

// A barrier before calls in which members do not wait for all others.
void ShmCollectives::sync() {
    Shape shape;
    shape.n = group_->size();
    run(route(shape, false), shape, {});
}

ShmCollectives::Route ShmCollectives::route(const Shape& shape, bool barrier) {
    using How = Route::How;
    const Operation operation = shape.operation;
    if (CacheLineExchange::fits(shape, barrier)) return {How::kLines, false, nullptr};
    const bool handed_on = operation == Operation::kReduce || operation == Operation::kPrefix;
    if (const std::optional<PipelineSegment::Kind> kind = kind_of(shape)) {
        GroupSegment* memory = long_memory_->of(*kind);
        POE_CHECK(memory != nullptr, shape.n, shape.bytes);
        if (handed_on) return {How::kRelayed, barrier, memory};
        const Bytes cache = runtime_->segment()->facts().cache_bytes;
        const bool non_temporal = cache > 0 && data_of(shape) >= cache / 2;
        return {*kind == PipelineSegment::kPaired ? How::kPaired : How::kStaged, barrier, memory,
                non_temporal};
    }
    if (handed_on) return {How::kRelayed, barrier, &one_way_memory_for(shape)};
    if (operation == Operation::kShift) return {How::kShift, barrier, &one_way_memory_for(shape)};
    if (operation == Operation::kGather && !barrier)
        return {How::kGather, false, &one_way_memory_for(shape)};
    if (is_from_root(shape)) return {How::kFromRoot, false, &one_way_memory_for(shape)};
    // In these calls each of two members gets everything, and the data are too long for a line.
    const bool swap =
        shape.n == 2 && (operation == Operation::kCombine || operation == Operation::kConcat);
    return {swap ? How::kSwap : How::kAllGive, false, &memory_for(shape)};
}

void ShmCollectives::run(const Route& route, const Shape& shape, const Run& run) {
    if (route.sync_first) [[unlikely]]
        sync();
    switch (route.how) {
        case Route::How::kLines:
            lines_->run(shape, run, *this, scratch_.data());
            break;
        case Route::How::kRelayed:
            relay(*route.memory, shape, run);
            break;
        case Route::How::kStaged:
            CopyInOut(shape, run, *route.memory, {into_slots_, route.non_temporal}, *this, me_)
                .run();
            break;
        case Route::How::kPaired:
            PairwiseExchange(
                shape, run, *route.memory,
                {stores_, route.non_temporal, runtime_->segment()->facts().tasks_per_core()}, *this,
                me_)
                .run();
            break;
        case Route::How::kShift:
            shift(*route.memory, shape, run);
            break;
        case Route::How::kGather:
            gather(*route.memory, shape, run);
            break;
        case Route::How::kSwap:
            swap(*route.memory, shape, run);
            break;
        case Route::How::kFromRoot:
            from_root(*route.memory, shape, run);
            break;
        case Route::How::kAllGive:
            all_give(*route.memory, shape, run);
            break;
    }
    // Every call polls for messages, so a message that was sent before a sync has arrived after it.
    runtime_->messages().progress();
}

void ShmCollectives::relay(GroupSegment& commons, const Shape& shape, const Run& run) {
    const SegmentFacts& facts = runtime_->segment()->facts();
    const PipelinedReduce::Tools tools{into_slots_, scratch_.data(), facts.oversubscribed()};
    PipelinedReduce(shape, run, commons, tools, *this, me_).run();
}

void ShmCollectives::shift(GroupSegment& commons, const Shape& shape, const Run& run) {
    const auto at = [&](std::int64_t step) {
        const std::uint32_t rank = shifted(shape, me_, step);
        return rank == shape.n ? GroupSegment::kNobody : rank;
    };
    const std::uint32_t taker = at(shape.step);
    const std::uint32_t giver = at(-std::int64_t{shape.step});
    const std::uint64_t call = commons.enter_for(taker, *this);
    put(commons.slot_of(me_, call), run.given, shape.bytes);
    commons.tell_one(taker, call, *this);
    if (giver != GroupSegment::kNobody) {
        commons.await_one(giver, call, looks_, *this);
        put(run.result, commons.slot_of(giver, call), shape.bytes);
    }
    commons.through(call, *this);
}

void ShmCollectives::gather(GroupSegment& commons, const Shape& shape, const Run& run) {
    const auto root = static_cast<std::uint32_t>(shape.root);
    if (me_ != root) {
        const std::uint64_t call = commons.enter_for(root, *this);
        put(commons.slot_of(me_, call), run.given, shape.bytes);
        commons.tell_one(root, call, *this);
        commons.through(call, *this);
        return;
    }
    const std::uint64_t call = commons.enter_for(GroupSegment::kNobody, *this);
    for (std::uint32_t m = 0; m < shape.n; ++m) {
        if (m != me_) commons.await_one(m, call, looks_, *this);
        put(run.result + m * shape.bytes, m == me_ ? run.given : commons.slot_of(m, call),
            shape.bytes);
    }
    commons.through(call, *this);
}

// Two members exchange everything, and each computes the result. That is faster than if one
// computes it for both.
void ShmCollectives::swap(GroupSegment& commons, const Shape& shape, const Run& run) {
    const std::uint32_t other = 1 - me_;
    const std::uint64_t call = commons.enter_for(other, *this);
    put(commons.slot_of(me_, call), run.given, shape.bytes);
    commons.tell_one(other, call, *this);
    if (shape.operation == Operation::kConcat)
        put(run.result + me_ * shape.bytes, run.given, shape.bytes);
    commons.await_one(other, call, looks_, *this);
    const std::byte* its = commons.slot_of(other, call);
    if (shape.operation == Operation::kConcat) {
        put(run.result + other * shape.bytes, its, shape.bytes);
    } else {
        reduce_to(run.reduction, run.result, me_ == 0 ? run.given : its, me_ == 0 ? its : run.given,
                  shape.bytes, scratch_.data());
    }
    commons.through(call, *this);
}

void ShmCollectives::from_root(GroupSegment& commons, const Shape& shape, const Run& run) {
    const auto root = static_cast<std::uint32_t>(shape.root);
    const bool scatters = shape.operation == Operation::kScatter;
    const Bytes own = scatters ? me_ * shape.bytes : 0;
    const Bytes all = scatters ? shape.bytes * shape.n : shape.bytes;
    if (me_ != root) {
        const std::uint64_t call = commons.enter_published(root, *this);
        put(run.result, commons.result(call, all) + own, shape.bytes);
        commons.through(call, *this);
        return;
    }
    const std::uint64_t call = commons.enter_to_publish(*this);
    put(commons.result(call, all), scatters ? run.given : run.result, all);
    commons.publish(call, *this);
    if (scatters) put(run.result, run.given + own, shape.bytes);
    commons.through(call, *this);
}

void ShmCollectives::all_give(GroupSegment& commons, const Shape& shape, const Run& run) {
    LocalPart part(shape, run, commons, me_, scratch_.data());
    commons.all_give(part, *this);
}

void ShmCollectives::wait(const std::function<bool()>& over,
                          const std::function<std::uint32_t()>& whom) {
    runtime_->messages().wait_until(over, [&]() -> Awaited {
        const std::uint32_t member = whom();
        if (member >= group_->size()) return {};
        return {Awaited::Kind::kMessage, group_->members[member], -1};
    });
}

void ShmCollectives::wake_others() noexcept {
    // Almost always no member sleeps. This task itself is awake.
    for (std::uint32_t m = 0; m < slots_.size(); ++m) {
        if (slots_[m]->sleeping.load(std::memory_order_relaxed) != kAwake) [[unlikely]]
            wake(m);
    }
}

void ShmCollectives::wake(std::uint32_t member) noexcept {
    runtime_->shared_memory()->wake(indices_[member]);
}

}  // namespace poe::collectives
