// The operations in shared memory; see local_calls.hpp.
#include "collectives/local_calls.hpp"

#include <algorithm>
#include <cstring>

#include "collectives/groups.hpp"

namespace poe::collectives {
namespace {

constexpr Bytes kShortBase = Commons::kShort.base();
constexpr Bytes kShortPerMember = Commons::kShort.per_member();
static_assert(kShortBase + Commons::kLong.base() <= kCommonBase);
static_assert(kShortPerMember + Commons::kLong.per_member() + LineCalls::bytes_for(1) <=
              kCommonPerTask);

// So many members sort an index faster each for itself.
constexpr std::uint32_t kFew = 4;

class LocalPart final : public Commons::Part {
  public:
    LocalPart(const Shape& shape, const Run& run, const Commons& commons, std::uint32_t me,
              bool barrier, std::byte* scratch)
        : shape_(shape),
          run_(run),
          commons_(commons),
          me_(me),
          barrier_(barrier),
          scratch_(scratch) {}

    void give(std::byte* slot) override {
        if (passes_on(shape_, barrier_) && shape_.operation == Operation::kPrefix) {
            extend(slot);
            return;
        }
        const Bytes bytes =
            shape_.operation == Operation::kIndex ? shape_.bytes * shape_.n : shape_.bytes;
        if (shape_.operation != Operation::kSync) copy(slot, run_.given, bytes);
    }

    void collect(std::byte* result) override {
        switch (shape_.operation) {
            case Operation::kSync:
                break;
            case Operation::kBcast:
                copy(result, run_.result, shape_.bytes);
                break;
            case Operation::kScatter:
                copy(result, run_.given, shape_.bytes * shape_.n);
                copy(run_.result, run_.given + me_ * shape_.bytes, shape_.bytes);
                break;
            case Operation::kReduce:
            case Operation::kCombine:
                copy(result, commons_.slot(0), shape_.bytes);
                for (std::uint32_t r = 1; r < shape_.n; ++r) add(result, r);
                break;
            case Operation::kPrefix:
                copy(result, commons_.slot(0), shape_.bytes);
                for (std::uint32_t r = 1; r < shape_.n; ++r) {
                    std::byte* sum = result + r * shape_.bytes;
                    copy(sum, sum - shape_.bytes, shape_.bytes);
                    add(sum, r);
                }
                break;
            case Operation::kGather:
            case Operation::kConcat:
            case Operation::kShift:
                for (std::uint32_t r = 0; r < shape_.n; ++r)
                    copy(result + r * shape_.bytes, commons_.slot(r), shape_.bytes);
                break;
            case Operation::kIndex:
                for (std::uint32_t to = 0; to < shape_.n; ++to) {
                    for (std::uint32_t from = 0; from < shape_.n; ++from)
                        copy(result + (Bytes{to} * shape_.n + from) * shape_.bytes,
                             commons_.slot(from) + to * shape_.bytes, shape_.bytes);
                }
                break;
        }
    }

    Bytes result_bytes() const override {
        switch (shape_.operation) {
            case Operation::kSync:
                return 0;
            case Operation::kBcast:
            case Operation::kReduce:
            case Operation::kCombine:
                return shape_.bytes;
            case Operation::kIndex:
                return shape_.bytes * shape_.n * shape_.n;
            default:
                return shape_.bytes * shape_.n;
        }
    }

    void take(const std::byte* result) override {
        if (passes_on(shape_, barrier_)) {
            if (shape_.operation == Operation::kPrefix) {
                before_ = result;
            } else {
                copy(run_.result, result, shape_.bytes);
            }
            return;
        }
        switch (shape_.operation) {
            case Operation::kSync:
                break;
            case Operation::kReduce:
                if (is_root()) copy(run_.result, result, shape_.bytes);
                break;
            case Operation::kGather:
                if (is_root()) copy(run_.result, result, shape_.bytes * shape_.n);
                break;
            case Operation::kBcast:
            case Operation::kCombine:
                copy(run_.result, result, shape_.bytes);
                break;
            case Operation::kPrefix:
            case Operation::kScatter:
                copy(run_.result, result + me_ * shape_.bytes, shape_.bytes);
                break;
            case Operation::kConcat:
                copy(run_.result, result, shape_.bytes * shape_.n);
                break;
            case Operation::kIndex:
                copy(run_.result, result + me_ * shape_.bytes * shape_.n, shape_.bytes * shape_.n);
                break;
            case Operation::kShift: {
                const std::uint32_t from = shifted(shape_, me_, -std::int64_t{shape_.step});
                if (from != shape_.n)
                    copy(run_.result, result + Bytes{from} * shape_.bytes, shape_.bytes);
                break;
            }
        }
    }

    std::byte* destination() override { return run_.result; }

    bool gets() const {
        const bool for_root =
            shape_.operation == Operation::kReduce || shape_.operation == Operation::kGather;
        return barrier_ || !for_root || is_root();
    }

    // Calls that a root can do by itself: of more members it would have to do more than its part.
    static bool to_root(const Shape& shape, bool barrier) {
        return !barrier && shape.n == 2 &&
               (shape.operation == Operation::kReduce || shape.operation == Operation::kGather);
    }
    // Calls in which each needs what one other has, and no more.
    static bool passes_on(const Shape& shape, bool barrier) {
        return !barrier &&
               (shape.operation == Operation::kPrefix || shape.operation == Operation::kShift);
    }
    // Whose that is, and who needs what this one has.
    static Commons::Neighbours neighbours(const Shape& shape, std::uint32_t me) {
        if (shape.operation == Operation::kPrefix)
            return {me == 0 ? Commons::kNobody : me - 1,
                    me + 1 == shape.n ? Commons::kNobody : me + 1, true};
        const auto at = [&](std::int64_t step) {
            const std::uint32_t rank = shifted(shape, me, step);
            return rank == shape.n ? Commons::kNobody : rank;
        };
        return {at(-std::int64_t{shape.step}), at(shape.step), false};
    }

  private:
    // A prefix: what the member before has, and the own.
    void extend(std::byte* slot) {
        if (before_ == nullptr) {
            copy(slot, run_.given, shape_.bytes);
        } else {
            copy(slot, before_, shape_.bytes);
            reduce_into(run_.reduction, slot, run_.given, shape_.bytes, true, scratch_);
        }
        copy(run_.result, slot, shape_.bytes);
    }
    bool is_root() const { return static_cast<Rank>(me_) == shape_.root; }
    void add(std::byte* sum, std::uint32_t rank) {
        reduce_into(run_.reduction, sum, commons_.slot(rank), shape_.bytes, true, scratch_);
    }
    static void copy(std::byte* to, const std::byte* from, Bytes bytes) {
        if (bytes > 0) std::memcpy(to, from, bytes);
    }

    const Shape& shape_;
    const Run& run_;
    const Commons& commons_;
    std::uint32_t me_;
    bool barrier_;
    std::byte* scratch_;
    const std::byte* before_ = nullptr;
};

}  // namespace

LocalCalls::LocalCalls(comm::Runtime& runtime, const Group& group, std::uint32_t piece)
    : runtime_(&runtime),
      group_(&group),
      piece_(piece),
      memory_(runtime.segment()->map_common(piece)),
      scratch_(Commons::kLong.slot) {
    const auto me = static_cast<std::uint32_t>(group.me);
    short_.emplace(memory_.data(), group.size(), me, Commons::kShort);
    std::byte* next = memory_.data() + Commons::bytes_for(group.size(), Commons::kShort);
    long_.emplace(next, group.size(), me, Commons::kLong);
    next += Commons::bytes_for(group.size(), Commons::kLong);
    lines_.emplace(next, group.size(), me);
    for (const TaskId task : group.members)
        indices_.push_back(*runtime.segment()->local_index(task));
}

LocalCalls::~LocalCalls() {
    if (!long_) return;
    // Who is the last to leave the second has seen all leave the first. All of it is made zero: in
    // the next group, of another size, other words lie where data were.
    short_->leave();
    if (!long_->leave()) return;
    const std::uint32_t members = group_->size();
    // All have made the same calls, so all have it or none.
    if (staging_)
        std::memset(memory_.data() + runtime_->segment()->facts().layout.staging_offset, 0,
                    Commons::bytes_for(members, StagedCall::sizes(members)));
    std::memset(memory_.data(), 0,
                Commons::bytes_for(members, Commons::kShort) +
                    Commons::bytes_for(members, Commons::kLong) + LineCalls::bytes_for(members));
    runtime_->segment()->give_back_common(piece_);
}

bool LocalCalls::fits(const Shape& shape) noexcept {
    return fits_at_once(shape) || StagedCall::fits(shape);
}

// Whether all that is given, and all that comes of it, has room in one call.
bool LocalCalls::fits_at_once(const Shape& shape) noexcept {
    if (!shape.offsets.empty() || !shape.matrix.empty()) return false;
    const Bytes each = shape.bytes;
    const bool slot = each <= Commons::kLong.room();
    const bool all = each * shape.n <= Commons::kLong.result;
    switch (shape.operation) {
        case Operation::kSync:
            return true;
        case Operation::kBcast:
            return each <= Commons::kLong.result;
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
            // Where blocks are less than a cache line, it is less work that one member sorts them.
            return shape.n > kFew && each < kLine && each * shape.n <= Commons::kLong.room() &&
                   each * shape.n * shape.n <= Commons::kLong.result;
    }
    return false;
}

bool LocalCalls::possible(comm::Runtime& runtime, const Group& group) noexcept {
    if (group.size() < 2 || runtime.shared_memory() == nullptr) return false;
    return std::all_of(group.members.begin(), group.members.end(), [&](TaskId task) {
        return runtime.segment()->node_of(task) == runtime.node();
    });
}

// The deep memory when the data are short enough.
Commons& LocalCalls::memory_for(const Shape& shape) noexcept {
    const Bytes given = shape.operation == Operation::kIndex ? shape.bytes * shape.n : shape.bytes;
    return given <= Commons::kShort.room() ? *short_ : *long_;
}

// Who comes first reserves it, and so does everybody else.
Commons& LocalCalls::staging() {
    if (!staging_) {
        const Commons::Sizes sizes = StagedCall::sizes(group_->size());
        const NodeSegment& segment = *runtime_->segment();
        segment.reserve_staging(piece_, Commons::bytes_for(group_->size(), sizes));
        staging_.emplace(memory_.data() + segment.facts().layout.staging_offset, group_->size(),
                         static_cast<std::uint32_t>(group_->me), sizes);
    }
    return *staging_;
}

void LocalCalls::run(const Shape& shape, const Run& run, bool barrier) {
    const auto me = static_cast<std::uint32_t>(group_->me);
    if (LineCalls::fits(shape, barrier)) {
        lines_->run(shape, run, *this, scratch_.data());
        runtime_->messages().progress();
        return;
    }
    if (!fits_at_once(shape)) {
        if (barrier) {
            Shape sync;
            sync.n = shape.n;
            this->run(sync, {}, false);
        }
        StagedCall(shape, run, staging(), into_slots_, *this, me).run();
        runtime_->messages().progress();
        return;
    }
    Commons& commons = memory_for(shape);
    LocalPart part(shape, run, commons, me, barrier, scratch_.data());
    if (shape.operation == Operation::kBcast || shape.operation == Operation::kScatter) {
        commons.one_gives(static_cast<std::uint32_t>(shape.root), part, *this);
    } else if (LocalPart::to_root(shape, barrier)) {
        commons.one_gets(static_cast<std::uint32_t>(shape.root), part, *this);
    } else if (LocalPart::passes_on(shape, barrier)) {
        commons.pass_on(LocalPart::neighbours(shape, me), part, *this);
    } else {
        commons.all_give(part.gets(), part, *this);
    }
    // As every call does: a message that was sent before a sync has come after it.
    runtime_->messages().progress();
}

void LocalCalls::wait(const std::function<bool()>& over,
                      const std::function<std::uint32_t()>& whom) {
    runtime_->messages().wait_until(over, [&]() -> Awaited {
        const std::uint32_t member = whom();
        if (member >= group_->size()) return {};
        return {Awaited::Kind::kMessage, group_->members[member], -1};
    });
}

void LocalCalls::wake_others() noexcept {
    const auto me = static_cast<std::uint32_t>(group_->me);
    for (std::uint32_t m = 0; m < indices_.size(); ++m) {
        if (m != me) wake(m);
    }
}

void LocalCalls::wake(std::uint32_t member) noexcept {
    runtime_->shared_memory()->wake(indices_[member]);
}

}  // namespace poe::collectives
