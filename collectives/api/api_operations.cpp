// The checks of collective operations, and the one function that runs them; see mpproto.h.
#include <algorithm>
#include <string>
#include <vector>

#include "base/task_ranges.hpp"
#include "collectives/api/api.hpp"
#include "collectives/api/api_context.hpp"
#include "collectives/engine/call_checker.hpp"
#include "collectives/engine/irregular_calls.hpp"
#include "comm/api/api_checks.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::collectives {
namespace {

using comm::ApiCall;
using comm::Caller;
using comm::MplError;

// An entry point at work: collects the arguments, refuses wrong ones, and runs the call. Only the
// first refusal is reported.
class Entry {
  public:
    Entry(ApiCall& call, CollectiveContext& library, const Caller& name, Call what,
          Operation operation, int gid)
        : call_(call), library_(library), group_(group_of(call, library, gid)) {
        made_.name = name.name;
        made_.call = what;
        made_.shape.operation = operation;
        if (group_ == nullptr) {
            refused_ = -1;
            return;
        }
        made_.shape.n = group_->size();
    }
    // The next irregular call reuses the memory.
    ~Entry() {
        Shape& shape = made_.shape;
        if (!shape.offsets.empty()) [[unlikely]]
            std::swap(shape.offsets, library_.spare_offsets());
        if (!shape.matrix.empty()) [[unlikely]]
            std::swap(shape.matrix, library_.spare_matrix());
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    Shape& shape() { return made_.shape; }
    std::uint32_t n() const { return made_.shape.n; }
    bool is_root() const { return group_ != nullptr && made_.shape.root == group_->me; }
    bool ok() const { return refused_ == 0; }
    Bytes own_block() const { return made_.shape.length(static_cast<std::uint32_t>(group_->me)); }

    Entry& length(std::size_t bytes) {
        if (bytes >= comm::kAbsurdLength) [[unlikely]]
            refuse_length(bytes);
        made_.shape.bytes = bytes;
        return *this;
    }
    Entry& root(int task) {
        if (!ok()) return *this;
        if (const Rank rank = group_->rank_of(task); rank != Group::kNoRank) {
            made_.shape.root = rank;
        } else {
            refuse_root(task);
        }
        return *this;
    }
    Entry& reduces(ReduceFunction function) {
        if (!ok()) return *this;
        made_.run.reduction = find_reduction(function);
        const Reduction& reduction = made_.run.reduction;
        made_.shape.element = reduction.element;
        made_.shape.commutative = reduction.name != nullptr;
        made_.shape.exact = reduction.exact;
        const bool allowed = reduction.name != nullptr
                                 ? made_.shape.bytes % reduction.element == 0
                                 : function != nullptr && made_.shape.bytes <= kLongestVector;
        if (!allowed) [[unlikely]]
            refuse_reduction(function);
        return *this;
    }
    // Blocks whose lengths the user gives for each rank.
    Entry& blocks(const int* lengths) {
        if (!ok() || !check_lengths(lengths, "blklens")) return *this;
        std::swap(made_.shape.offsets, library_.spare_offsets());
        auto& offsets = made_.shape.offsets;
        offsets.assign(1, 0);
        for (std::uint32_t r = 0; r < n(); ++r)
            offsets.push_back(offsets.back() + static_cast<Bytes>(lengths[r]));
        made_.shape.bytes = offsets.back() / n();
        return *this;
    }
    // The own row and column of an irregular index's matrix.
    Entry& own_matrix(const int* row, const int* column) {
        if (!ok() || !check_lengths(row, "outlens") || !check_lengths(column, "inlens"))
            return *this;
        const auto me = static_cast<std::size_t>(group_->me);
        if (row[me] != column[me]) {
            refuse_own_block(row[me], column[me]);
            return *this;
        }
        std::swap(made_.shape.matrix, library_.spare_matrix());
        auto& matrix = made_.shape.matrix;
        matrix.assign(std::size_t{n()} * n(), 0);
        for (std::uint32_t r = 0; r < n(); ++r) {
            matrix[std::size_t{r} * n() + me] = static_cast<Bytes>(column[r]);
            matrix[me * n() + r] = static_cast<Bytes>(row[r]);
        }
        return *this;
    }
    Entry& shifts(int step, int flag) {
        made_.shape.step = step;
        made_.shape.circular = flag == 0;
        if (ok() && flag != 0 && flag != 1) [[unlikely]]
            refused_ = call_.refuse(MplError::kQuery, "the flag is " + std::to_string(flag),
                                    "0 shifts around the end, 1 does not");
        return *this;
    }
    // The sum of these lengths, one for each rank, in bytes.
    Bytes sum(const int* lengths) const {
        Bytes all = 0;
        for (std::uint32_t r = 0; r < n(); ++r) all += static_cast<Bytes>(lengths[r]);
        return all;
    }
    // The buffers for output and input. `used`: this rank contributes (or gets) data.
    Entry& gives(const void* out, Bytes bytes, bool used = true) {
        check("out", out, bytes, used);
        made_.run.given = static_cast<const std::byte*>(out);
        return *this;
    }
    Entry& gets(void* in, Bytes bytes, bool used = true, const char* argument = "in") {
        check(argument, in, bytes, used);
        made_.run.result = static_cast<std::byte*>(in);
        return *this;
    }

    [[gnu::hot]] int run(Ending ending) {
        if (ok() && !ending.blocking && ending.id == nullptr) [[unlikely]]
            refused_ = comm::refuse_null(call_, "collid", "an int");
        if (!ok()) [[unlikely]] {
            if (group_ != nullptr && library_.develop()) tell_of_refusal(library_, *group_, made_);
            return refused_;
        }
        if (!ending.blocking) call_.note_non_blocking(made_.call, group_->gid, made_.shape.bytes);
        call_.doing(made_.call, TaskActivity::kAnyPeer, group_->gid, made_.shape.bytes);
        const std::uint32_t number = group_->calls++;
        if (call_.traced()) [[unlikely]]
            process_context().tracer.collective(
                root(), group_->gid, made_.shape.bytes, number,
                ending.blocking ? trace::Phase::kWhole : trace::Phase::kStarts);
        if (library_.develop()) {
            if (const int refused = check_same_call(call_, library_, *group_, made_))
                return refused;
        }
        if (ending.blocking && !made_.shape.matrix.empty() && library_.planned() != nullptr)
            [[unlikely]] {
            if (PlannedLine* line = library_.planned()->next("indexv", *group_))
                return run_planned(*line);
        }
        if (ending.blocking && !made_.shape.matrix.empty() &&
            !library_.names_algorithm(*group_, made_.shape)) {
            if (const std::optional<ExchangeEnd> end =
                    exchange_in_memory(library_, *group_, blocks()))
                return refuse_outcome(call_, *end);
        }
        // A call that must not block cannot ask for the lengths; it takes another algorithm.
        if (ending.blocking && library_.needs_whole_matrix(made_.shape)) {
            if (const Plan* wrong = library_.allgather_counts(*group_, made_.shape))
                return refuse_outcome(call_, *wrong);
        }
        if (ending.blocking) {
            const Plan* plan = library_.run_blocking(*group_, made_);
            if (plan != nullptr) return refuse_outcome(call_, *plan);
            library_.count_traffic(*group_, made_.shape);
            return 0;
        }
        Plan& plan = library_.plan_for(*group_, made_);
        library_.begin(*group_, plan, made_.run);
        plan.advance(library_.messages());
        Running& running = library_.add_running(*group_, plan);
        running.number = number;
        *ending.id = running.id;
        return 0;
    }

  private:
    // The blocks of an irregular index, by rank; valid until the next call on the group.
    std::vector<ExchangeBlock>& blocks() {
        const Shape& shape = made_.shape;
        const auto me = static_cast<std::uint32_t>(group_->me);
        const std::byte* out = made_.run.given;
        std::byte* in = made_.run.result;
        std::vector<ExchangeBlock>& blocks = state_of(*group_).blocks;
        blocks.clear();
        for (std::uint32_t r = 0; r < n(); ++r) {
            const Bytes goes = shape.between(me, r);
            const Bytes comes = shape.between(r, me);
            blocks.push_back({out, goes, in, comes});
            if (goes > 0) out += goes;
            if (comes > 0) in += comes;
        }
        return blocks;
    }
    // An irregular index by the plan of the run.
    int run_planned(PlannedLine& line) {
        std::vector<PlannedBlock> planned;
        for (const ExchangeBlock& each : blocks())
            planned.push_back(
                {{const_cast<std::byte*>(each.out), each.out_bytes}, {each.in, each.in_bytes}});
        return refuse_outcome(call_, exchange_planned({library_.messages(), *group_, line, planned,
                                                       library_.next_type(*group_), kCclContext,
                                                       library_.progress()}));
    }
    // The task that is the root; -1: the call has none.
    TaskId root() const {
        const Operation operation = made_.shape.operation;
        const bool has = operation == Operation::kBcast || operation == Operation::kReduce ||
                         operation == Operation::kScatter || operation == Operation::kGather;
        return has ? group_->members[static_cast<std::size_t>(made_.shape.root)] : -1;
    }
    [[gnu::cold]] void refuse_length(std::size_t bytes) {
        if (!ok()) return;
        refused_ = call_.refuse(
            MplError::kLength, "the length is " + std::to_string(static_cast<long long>(bytes)),
            "lengths are in bytes, from 0 to " + std::to_string(comm::kAbsurdLength - 1));
    }
    [[gnu::cold]] void refuse_own_block(int goes_out, int comes_in) {
        const std::string at = "[" + std::to_string(group_->me) + "] is ";
        refused_ = call_.refuse(
            MplError::kLength,
            "outlens" + at + std::to_string(goes_out) + ", inlens" + at + std::to_string(comes_in),
            "what a task sends to itself is as long as what it gets from itself");
    }
    [[gnu::cold]] void refuse_root(int task) {
        refused_ = call_.refuse(
            MplError::kRoot,
            "the root, task " + std::to_string(task) + ", is not a member of group " +
                std::to_string(group_->gid),
            "roots are task ids; members are the tasks " + task_ranges(sorted_members()));
    }
    [[gnu::cold]] void refuse_reduction(ReduceFunction function) {
        const Reduction& reduction = made_.run.reduction;
        const std::string bytes = std::to_string(made_.shape.bytes);
        if (function == nullptr) {
            refused_ = comm::refuse_null(call_, "func", "a function");
        } else if (reduction.name == nullptr) {
            refused_ = call_.refuse(MplError::kLength,
                                    bytes + " bytes are more than the int that tells the function",
                                    "reduce at most 2147483647 bytes in one call");
        } else {
            refused_ = call_.refuse(MplError::kLength,
                                    bytes + " bytes are no multiple of " +
                                        std::to_string(reduction.element) +
                                        ", an element's length for " + reduction.name,
                                    "give the length in bytes");
        }
    }
    bool check_lengths(const int* lengths, const char* argument) {
        if (lengths == nullptr) {
            refused_ = comm::refuse_null(call_, argument, "an int for each member");
            return false;
        }
        for (std::uint32_t r = 0; r < n() && ok(); ++r) {
            if (lengths[r] < 0)
                refused_ = call_.refuse(MplError::kLength,
                                        std::string(argument) + "[" + std::to_string(r) + "] is " +
                                            std::to_string(lengths[r]),
                                        "lengths are in bytes, from 0 on");
        }
        return ok();
    }
    void check(const char* argument, const void* start, Bytes bytes, bool used) {
        if (start == nullptr && bytes > 0 && used) [[unlikely]]
            refuse_null(argument, bytes);
    }
    [[gnu::cold]] void refuse_null(const char* argument, Bytes bytes) {
        if (!ok()) return;
        refused_ = comm::refuse_null(call_, argument, (std::to_string(bytes) + " bytes").c_str());
    }
    std::vector<TaskId> sorted_members() const {
        std::vector<TaskId> members = group_->members;
        std::sort(members.begin(), members.end());
        return members;
    }
    ApiCall& call_;
    CollectiveContext& library_;
    Group* group_;
    CollectiveCall made_;
    int refused_ = 0;
};

// Records in the trace which operation this call ends.
void note_end(const ApiCall& call, const Running& running) {
    if (call.traced()) [[unlikely]]
        process_context().tracer.collective(-1, running.group->gid, 0, running.number,
                                            trace::Phase::kEnds);
}

int refuse_id(const ApiCall& call, int collid) {
    return call.refuse(MplError::kCollectiveId,
                       "there is no collective call with the id " + std::to_string(collid),
                       "give an id of mpc_ibcast or its like that has not ended yet");
}

template <typename Fill>
int operate(const Caller& name, Call what, Operation operation, int gid, Ending ending,
            Fill&& fill) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        Entry entry(call, library, name, what, operation, gid);
        if (entry.ok()) fill(entry);
        return entry.run(ending);
    });
}

}  // namespace

int api_bcast(const Caller& name, void* buf, std::size_t len, int root, int gid, Ending ending) {
    return operate(name, Call::kBcast, Operation::kBcast, gid, ending,
                   [&](Entry& entry) { entry.length(len).root(root).gets(buf, len, true, "buf"); });
}

int api_reduce(const Caller& name, const void* out, void* in, std::size_t len, int root,
               ReduceFunction func, int gid, Ending ending) {
    return operate(name, Call::kReduce, Operation::kReduce, gid, ending, [&](Entry& entry) {
        entry.length(len).root(root).reduces(func).gives(out, len).gets(in, len, entry.is_root());
    });
}

int api_combine(const Caller& name, const void* out, void* in, std::size_t len, ReduceFunction func,
                int gid, Ending ending) {
    return operate(name, Call::kCombine, Operation::kCombine, gid, ending, [&](Entry& entry) {
        entry.length(len).reduces(func).gives(out, len).gets(in, len);
    });
}

int api_prefix(const Caller& name, const void* out, void* in, std::size_t len, ReduceFunction func,
               int gid, Ending ending) {
    return operate(name, Call::kPrefix, Operation::kPrefix, gid, ending, [&](Entry& entry) {
        entry.length(len).reduces(func).gives(out, len).gets(in, len);
    });
}

int api_scatter(const Caller& name, const void* out, void* in, std::size_t blklen, int root,
                int gid, Ending ending) {
    return operate(name, Call::kScatter, Operation::kScatter, gid, ending, [&](Entry& entry) {
        entry.length(blklen).root(root).gives(out, blklen, entry.is_root()).gets(in, blklen);
    });
}

int api_gather(const Caller& name, const void* out, void* in, std::size_t blklen, int root, int gid,
               Ending ending) {
    return operate(name, Call::kGather, Operation::kGather, gid, ending, [&](Entry& entry) {
        entry.length(blklen).root(root).gives(out, blklen).gets(in, blklen, entry.is_root());
    });
}

int api_concat(const Caller& name, const void* out, void* in, std::size_t blklen, int gid,
               Ending ending) {
    return operate(name, Call::kConcat, Operation::kConcat, gid, ending,
                   [&](Entry& entry) { entry.length(blklen).gives(out, blklen).gets(in, blklen); });
}

int api_index(const Caller& name, const void* out, void* in, std::size_t blklen, int gid,
              Ending ending) {
    return operate(name, Call::kIndex, Operation::kIndex, gid, ending,
                   [&](Entry& entry) { entry.length(blklen).gives(out, blklen).gets(in, blklen); });
}

int api_shift(const Caller& name, const void* out, void* in, std::size_t len, int step, int flag,
              int gid, Ending ending) {
    return operate(name, Call::kShift, Operation::kShift, gid, ending, [&](Entry& entry) {
        entry.length(len).gives(out, len).gets(in, len).shifts(step, flag);
    });
}

[[gnu::hot]] int api_sync(const Caller& name, int gid, Ending ending) {
    return operate(name, Call::kSync, Operation::kSync, gid, ending, [](Entry&) {});
}

int api_scatterv(const Caller& name, const void* out, void* in, const int* blklens, int root,
                 int gid, Ending ending) {
    return operate(name, Call::kScatter, Operation::kScatter, gid, ending, [&](Entry& entry) {
        entry.root(root).blocks(blklens);
        if (!entry.ok()) return;
        entry.gives(out, entry.shape().offsets.back(), entry.is_root()).gets(in, entry.own_block());
    });
}

int api_gatherv(const Caller& name, const void* out, void* in, const int* blklens, int root,
                int gid, Ending ending) {
    return operate(name, Call::kGather, Operation::kGather, gid, ending, [&](Entry& entry) {
        entry.root(root).blocks(blklens);
        if (!entry.ok()) return;
        entry.gives(out, entry.own_block()).gets(in, entry.shape().offsets.back(), entry.is_root());
    });
}

int api_concatv(const Caller& name, const void* out, void* in, const int* blklens, int gid,
                Ending ending) {
    return operate(name, Call::kConcat, Operation::kConcat, gid, ending, [&](Entry& entry) {
        entry.blocks(blklens);
        if (entry.ok()) entry.gives(out, entry.own_block()).gets(in, entry.shape().offsets.back());
    });
}

int api_indexv(const Caller& name, const void* out, const int* outlens, void* in, const int* inlens,
               int gid, Ending ending) {
    return operate(name, Call::kIndex, Operation::kIndex, gid, ending, [&](Entry& entry) {
        entry.own_matrix(outlens, inlens);
        if (entry.ok()) entry.gives(out, entry.sum(outlens)).gets(in, entry.sum(inlens));
    });
}

int api_collwait(const Caller& name, int* collid) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        if (collid == nullptr) return comm::refuse_null(call, "collid", "an int");
        Running* running = library.find_running(*collid);
        if (running == nullptr) return refuse_id(call, *collid);
        call.doing(Call::kCollwait, TaskActivity::kAnyPeer, running->group->gid, 0);
        note_end(call, *running);
        library.finish(*running);
        const int result = refuse_outcome(call, *running->plan);
        library.end(*running);
        return result;
    });
}

int api_colltest(const Caller& name, int collid, int* done) {
    return in_call(name, [&](ApiCall& call, CollectiveContext& library) {
        if (done == nullptr) return comm::refuse_null(call, "done", "an int");
        Running* running = library.find_running(collid);
        if (running == nullptr) return refuse_id(call, collid);
        call.note_non_blocking(Call::kCollwait, running->group->gid, 0);
        library.messages().progress();
        *done = library.advance(*running) ? 1 : 0;
        if (*done == 0) {
            call.runtime().pause_between_looks();
            return 0;
        }
        note_end(call, *running);
        const int result = refuse_outcome(call, *running->plan);
        library.end(*running);
        return result;
    });
}

}  // namespace poe::collectives
