// The collective operations of one task; see collective_context.hpp.
#include "collectives/engine/collective_context.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <strings.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/contexts.hpp"
#include "base/parse.hpp"
#include "base/segment/tuning_path.hpp"
#include "base/segment/tuning_text.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/barrier.hpp"
#include "collectives/selection/catalogue.hpp"
#include "collectives/selection/method.hpp"
#include "collectives/selection/multicast_cost.hpp"
#include "comm/api/api_call.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::collectives {
namespace {

// Shape::step of calls that the library makes for itself. In a broadcast or concat of a user it is
// 0.
constexpr int kInternal = -1;

// The context of messages on the communicator to which a group of MPI belongs.
ContextId context_of(const Group& group) noexcept {
    return kFirstMpiContext + static_cast<ContextId>(group.gid);
}

bool is_word(const char* text, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [text](const char* word) { return ::strcasecmp(text, word) == 0; });
}

// The number of cores, the same for all tasks of a node whatever cores they are bound to.
unsigned cores_of_node() {
    return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

// Returns the text that poe has read and passed to all tasks; otherwise reads the file itself.
Result<Tuning> tuning_of_job(const CollectiveContext::Variables& variables) {
    NamedTuning tuning;
    if (const char* handed = variables(kTuningVariable); handed != nullptr && *handed != '\0') {
        tuning = handed_tuning(handed);
    } else if (const char* file = variables(kTuningFileVariable);
               file != nullptr && *file != '\0') {
        tuning = {file, read_tuning_text(file)};
    }
    if (tuning.read.failure.empty())
        return read_tuning(tuning.read.text, tuning.path, cores_of_node());
    UserError error;
    error.text = "cannot read " + tuning.path + ": " + tuning.read.failure;
    return error;
}

}  // namespace

CollectiveContext::CollectiveContext(comm::Runtime& runtime, const Variables& variables,
                                     std::span<const Path> table)
    : runtime_(runtime),
      table_(table),
      progress_(runtime),
      groups_(runtime.tasks(), runtime.task()),
      variables_(variables) {
    read_modes(variables);
    const char* plan = variables(kPlanFileVariable);
    has_plan_ = plan != nullptr && *plan != '\0' && !barrier_;
    read_multicast(variables);
    Result<Overrides> overrides = read_overrides(variables);
    if (overrides) {
        overrides_ = overrides.value();
    } else if (failure_.empty()) {
        failure_ = overrides.error().str();
    }
}

// All members must have the same plan, so it is the text that poe has passed to all tasks, or a
// file that the user has named for all tasks. A plan that cannot be read is the same as none.
PlannedCalls* CollectiveContext::plan_of_run() {
    if (planned_ != nullptr) return planned_.get();
    const auto value = [&](const char* name) {
        const char* text = variables_(name);
        return std::string(text != nullptr ? text : "");
    };
    const std::string path = value(kPlanFileVariable);
    TuningText text{value(kPlanTextVariable), "", false};
    if (text.text.empty()) text = read_tuning_text(path);
    Result<std::vector<PlannedCall>> read =
        text.failure.empty() ? read_plan(text.text, path)
                             : UserError{path, 0, 0, "cannot be read: " + text.failure, "", 0};
    if (!read && runtime_.task() == 0)
        std::fprintf(stderr, "ATTENTION: 0032-%d The plan is not used: %s.\n",
                     static_cast<int>(comm::MplError::kPlanFile), read.error().str().c_str());
    planned_ = std::make_unique<PlannedCalls>(
        read ? std::move(read.value()) : std::vector<PlannedCall>{}, runtime_.task(),
        [this](TaskId task) { return runtime_.node_of(task); });
    return planned_.get();
}

void CollectiveContext::report_plan() {
    constexpr int kInfo = 2;
    const char* text = variables_("MP_INFOLEVEL");
    const int level = text == nullptr ? 0 : parse_number<int>(text).value_or(0);
    if (planned_ == nullptr || level < kInfo) return;
    for (const std::string& sentence : planned_->report(level > kInfo))
        std::fprintf(stderr, "INFO: 0032-%d %s\n", static_cast<int>(comm::MplError::kPlanLeft),
                     sentence.c_str());
}

void CollectiveContext::read_modes(const Variables& variables) {
    const char* develop = variables("MP_EUIDEVELOP");
    develop_ = develop != nullptr && is_word(develop, {"yes", "deb"});
    // Barriers find mistakes, but cost time.
    barrier_ = develop_;
    const char* mode = variables("MP_CCL_MODE");
    if (mode == nullptr || *mode == '\0') return;
    if (is_word(mode, {"barrier"})) {
        barrier_ = true;
    } else if (is_word(mode, {"nonbarrier", "non-barrier"})) {
        barrier_ = false;
    } else {
        failure_ = "MP_CCL_MODE: \"" + std::string(mode) +
                   "\" is not allowed; expected barrier or nonbarrier";
    }
}

void CollectiveContext::read_multicast(const Variables& variables) {
    const char* wanted = variables("MP_MULTICAST");
    if (wanted == nullptr || *wanted == '\0' || is_word(wanted, {"auto"})) return;
    if (is_word(wanted, {"yes"})) {
        multicast_ = Multicast::kAlways;
    } else if (is_word(wanted, {"no"})) {
        multicast_ = Multicast::kNo;
    } else if (failure_.empty()) {
        failure_ = "MP_MULTICAST: \"" + std::string(wanted) +
                   "\" is not allowed; expected yes, no or auto";
    }
}

// All members of a group must make the same choice, also on different nodes. Therefore the tuning
// is the text that poe has passed to all tasks, or a file that the user has named for all tasks.
const Tuning& CollectiveContext::take_tuning() {
    const Result<Tuning> read = tuning_of_job(variables_);
    if (!read && runtime_.task() == 0)
        std::fprintf(stderr,
                     "ATTENTION: 0032-%d %s. Collective calls go on with what is built in; "
                     "mptune makes a new file where there is none.\n",
                     static_cast<int>(comm::MplError::kTuningFile), read.error().str().c_str());
    tuning_ = read ? read.value() : built_in_tuning(cores_of_node());
    // All messages go over the network.
    if (runtime_.all_by_tcp()) tuning_->node = tuning_->network;
    return *tuning_;
}

const std::vector<std::uint32_t>& CollectiveContext::nodes_of(Group& group) const {
    std::optional<std::vector<std::uint32_t>>& kept = state_of(group).nodes;
    if (!kept) kept = find_nodes_of(group);
    return *kept;
}

bool CollectiveContext::spans_jobs(const Group& group) const {
    return std::any_of(group.members.begin(), group.members.end(),
                       [this](TaskId task) { return runtime_.is_guest(task); });
}

std::vector<std::uint32_t> CollectiveContext::find_nodes_of(const Group& group) const {
    if (spans_jobs(group)) {
        std::vector<std::uint32_t> apart(group.members.size());
        std::iota(apart.begin(), apart.end(), 0);
        return apart;
    }
    if (runtime_.nodes() == 1) return {};
    std::vector<std::uint32_t> nodes;
    std::map<NodeIndex, std::uint32_t> numbers;
    for (const TaskId task : group.members) {
        const auto next = static_cast<std::uint32_t>(numbers.size());
        nodes.push_back(numbers.emplace(runtime_.segment()->node_of(task), next).first->second);
    }
    return numbers.size() > 1 ? nodes : std::vector<std::uint32_t>{};
}

Choice CollectiveContext::choice_for(const Shape& placed) {
    return choose(catalogue(), placed, tuning(), overrides_);
}

template <typename Make>
Plan& CollectiveContext::kept_or_new(Group& group, const Shape& shape, bool users_function,
                                     const Make& make) {
    if (Plan* kept = state_of(group).plans.find(shape, users_function)) return *kept;
    return state_of(group).plans.add(
        std::make_unique<Plan>(shape, make(), group.me, users_function), users_function);
}

// All members decide alike.
bool CollectiveContext::names_algorithm(Group& group, const Shape& shape) const {
    if (!wanted_for(shape) || wanted_for(shape)->transport != Transport::kMessages) return false;
    Shape placed = shape;
    placed.nodes = nodes_of(group);
    return wanted_choice(placed, overrides_).has_value();
}

// Returns the transport that the user names; otherwise the measured one; otherwise the default.
Transport CollectiveContext::wanted_transport(Group& group, const Shape& shape) {
    if (names_algorithm(group, shape)) return Transport::kMessages;
    if (const auto& wanted = wanted_for(shape); wanted && wanted->transport != Transport::kMessages)
        return wanted->transport;
    if (wants_multicast(shape, nodes_of(group), state_of(group).time_of_byte))
        return Transport::kMulticast;
    const MeasuredBest* best = tuning().node.best(shape);
    if (best != nullptr) return best->method.transport;
    const Transport by_default = default_transport(shape);
    if (by_default == Transport::kDirect || !single_copy_is_cheaper(group, shape))
        return by_default;
    return Transport::kDirect;
}

// All members decide alike, because the result does not depend on the root. The shape is copied
// only if necessary, because the decision on an irregular call is made each time.
bool CollectiveContext::wants_multicast(const Shape& shape, const std::vector<std::uint32_t>& nodes,
                                        std::optional<double> time_of_byte) {
    if (multicast_ == Multicast::kNo || barrier_ || !fits_multicast(shape, nodes)) return false;
    if (multicast_ == Multicast::kAlways) return true;
    if (const auto& wanted = wanted_for(shape)) return wanted->transport == Transport::kMulticast;
    if (const MeasuredBest* best = tuning().network.best(shape))
        return best->method.transport == Transport::kMulticast;
    if (multicast_bytes(shape) < least_multicast_bytes(shape.operation)) return false;
    Shape placed = shape;
    placed.nodes = nodes;
    placed.root = 0;
    const Choice by_messages = choice_for(placed);
    if (multicast_is_faster(tuning(), placed, by_messages, time_of_byte.value_or(0))) return true;
    return !time_of_byte && shape.operation == Operation::kBcast && shape.bytes >= kLeastMeasured &&
           multicast_is_faster(tuning(), placed, by_messages, kSlowNetwork);
}

// The default limits are those of machines on which a single copy costs more than two ordinary
// ones.
bool CollectiveContext::single_copy_is_cheaper(Group& group, const Shape& shape) {
    if (shared_copies_of(shape) == 0 || !SingleCopyCalls::fits(shape)) return false;
    SingleCopyCalls* single_copy = single_copy_of(group);
    return single_copy != nullptr && single_copy->allowed() &&
           shape.bytes >= shortest_single_copy(single_copy->costs(), shape);
}

CollectiveContext::CachedPath CollectiveContext::decide_path(Group& group, const Shape& shape) {
    CachedPath cached;
    if (shape.matrix.empty()) {
        cached.bytes = shape.bytes;
        cached.blocks = CachedPath::Blocks::of(shape);
        cached.element = shape.element;
        cached.gid = group.gid;
        cached.operation = shape.operation;
        cached.commutative = shape.commutative;
        cached.exact = shape.exact;
    }
    const bool apart = spans_jobs(group);
    cached.selected = select(table_, shape, barrier_ && !apart,
                             apart ? Transport::kMessages : wanted_transport(group, shape),
                             [&](const Path& path, SelectedPath& selected) {
                                 return path.prepare(*this, group, shape, selected);
                             });
    process_context().events.raise(EngineEvent::kPathDecided, name_of(shape.operation),
                                   cached.selected.path->name, shape.bytes, group.size(),
                                   context_of(group));
    return cached;
}

std::optional<SelectedPath> CollectiveContext::path_by(Transport transport, Group& group,
                                                       const Shape& shape) {
    return find_path(table_, shape, barrier_, transport,
                     [&](const Path& path, SelectedPath& selected) {
                         return path.prepare(*this, group, shape, selected);
                     });
}

StartedCalls* CollectiveContext::started_calls(Group& group, const Shape& shape) {
    ShmGroup* memory = state_of(group).memory.get();
    StartedCalls* calls = memory != nullptr ? memory->started_calls(shape) : nullptr;
    if (calls == nullptr || barrier_ || wanted_for(shape)) return nullptr;
    const MeasuredBest* best = tuning().node.best(shape);
    return best != nullptr && best->method.transport == Transport::kMessages ? nullptr : calls;
}

// By value, because a call of another thread may overwrite the entry of the cache.
[[gnu::hot]] Plan* CollectiveContext::run_on(SelectedPath selected, Group& group,
                                             const CollectiveCall& call) {
    if (group.lost_member >= 0) [[unlikely]]
        throw MemberLost(group.lost_member);
    if (selected.sync_first) [[unlikely]]
        sync_in_memory(group);
    const CallProgress::Scope told(progress_, selected.path->kind);
    ++calls_by_path_[static_cast<std::size_t>(selected.path - table_.data())];
    Plan* plan = selected.path->run({*this, group, selected, call});
    if (selected.path->transport != Transport::kMessages) poll_sometimes();
    return plan;
}

// The barrier before a call in which members do not wait for all others.
void CollectiveContext::sync_in_memory(Group& group) {
    CollectiveCall sync;
    sync.shape.n = group.size();
    const std::optional<SelectedPath> path = path_by(Transport::kShared, group, sync.shape);
    POE_CHECK(path.has_value(), group.gid);
    run_on(*path, group, sync);
}

Plan& CollectiveContext::run_schedule(Group& group, const CollectiveCall& call) {
    Plan& plan = plan_for(group, call);
    Run run = call.run;
    run.progress = &progress_;
    begin(group, plan, run);
    plan.finish(messages());
    return plan;
}

SingleCopyCalls* CollectiveContext::single_copy_of(Group& group) {
    std::unique_ptr<SingleCopyCalls>& single_copy = state_of(group).single_copy;
    if (single_copy == nullptr) {
        ShmGroup* memory = memory_of(group);
        if (memory == nullptr) return nullptr;
        if (group.me == 0 && !copy_costs_) copy_costs_ = measure_copy_costs();
        single_copy = std::make_unique<SingleCopyCalls>(runtime_, group, *memory,
                                                        copy_costs_.value_or(CopyCosts{}));
    }
    return single_copy.get();
}

// Finds out at the first call whether the group has shared memory. Blocks then.
ShmGroup* CollectiveContext::memory_of(Group& group) {
    std::unique_ptr<ShmGroup>& memory = state_of(group).memory;
    if (memory == nullptr) {
        memory = std::make_unique<ShmGroup>();
        if (!ShmGroup::possible(runtime_, group)) return nullptr;
        // 0: all group segments are in use.
        std::uint32_t number = 0;
        if (group.me == 0) {
            const auto reserved = ShmGroup::reserve_segment(runtime_);
            if (reserved) number = *reserved + 1;
        }
        if (bcast_internal(group, number, next_type(group)) != nullptr) return nullptr;
        if (number != 0) memory = std::make_unique<ShmGroup>(runtime_, group, number - 1);
    }
    return memory->available() ? memory.get() : nullptr;
}

bool CollectiveContext::in_two_levels(const Shape& placed) {
    return choice_for(placed).algorithm->within != nullptr;
}

Plan& CollectiveContext::plan_for(Group& group, const CollectiveCall& call) {
    const Shape& shape = call.shape;
    const bool users = call.run.reduction.calls_user();
    std::optional<Choice> made;
    Plan& plan = kept_or_new(group, shape, users, [&] {
        Shape placed = shape;
        placed.nodes = nodes_of(group);
        // Jobs may have different settings, but members must choose alike.
        made = spans_jobs(group) ? choose(catalogue(), placed, built_in_tuning(1), {})
                                 : choice_for(placed);
        Generator generate = made->make(placed);
        return barrier_ && !spans_jobs(group) ? with_barrier(shape, std::move(generate)) : generate;
    });
    if (made) {
        plan.name_algorithm(Method{Transport::kMessages, *made}.text());
        process_context().events.raise(
            EngineEvent::kAlgorithmChosen, name_of(shape.operation), made->algorithm->name,
            made->algorithm->parameter != nullptr ? made->parameter : 0.0, shape.bytes,
            group.size(), context_of(group));
    }
    return plan;
}

std::int32_t CollectiveContext::next_type(Group& group) {
    const std::uint32_t sequence = group.sequence++;
    // Other threads may add and end calls while this one waits.
    const auto is_old = [&](const auto& each) {
        return each->group == &group && sequence - each->sequence >= kCallsAtOnce &&
               each->plan->running() && !each->plan->went_wrong();
    };
    for (;;) {
        const auto old = std::find_if(running_.begin(), running_.end(), is_old);
        if (old == running_.end()) return message_type(group, sequence);
        (*old)->plan->finish(messages());
    }
}

void CollectiveContext::begin(Group& group, Plan& plan, Run run) {
    run.type = next_type(group);
    plan.begin(group, run);
}

// Checks and the making of groups have schedules of their own, in all modes. Their plans are kept
// under shapes that no call of a user has.
Plan* CollectiveContext::allgather_internal(Group& group, const void* own, void* all, Bytes bytes,
                                            std::int32_t type) {
    Shape shape;
    shape.operation = Operation::kConcat;
    shape.n = group.size();
    shape.bytes = bytes;
    shape.step = kInternal;
    Plan& plan = kept_or_new(group, shape, false, [&] { return concat_circulant(shape, 1); });
    plan.begin(group, {static_cast<const std::byte*>(own), static_cast<std::byte*>(all), {}, type});
    plan.finish(messages());
    return plan.running() ? &plan : nullptr;
}

Plan* CollectiveContext::bcast_internal(Group& group, std::uint32_t& value, std::int32_t type) {
    Shape shape;
    shape.operation = Operation::kBcast;
    shape.n = group.size();
    shape.bytes = sizeof value;
    shape.step = kInternal;
    Plan& plan =
        kept_or_new(group, shape, false, [&] { return bcast_tree(shape, split_in_half()); });
    plan.begin(group, {nullptr, reinterpret_cast<std::byte*>(&value), {}, type});
    plan.finish(messages());
    return plan.running() ? &plan : nullptr;
}

Plan* CollectiveContext::allgather_counts(Group& group, Shape& shape) {
    std::vector<Bytes>& matrix = shape.matrix;
    shape.whole_matrix = true;
    const Bytes row = group.size() * sizeof(Bytes);
    std::vector<Bytes> own(
        matrix.begin() + group.me * static_cast<std::ptrdiff_t>(group.size()),
        matrix.begin() + (group.me + 1) * static_cast<std::ptrdiff_t>(group.size()));
    return allgather_internal(group, own.data(), matrix.data(), row, next_type(group));
}

Running& CollectiveContext::add_running(Group& group, Plan& plan) {
    std::unique_ptr<Running> running;
    if (spare_.empty()) {
        running = std::make_unique<Running>();
    } else {
        running = std::move(spare_.back());
        spare_.pop_back();
    }
    running->id = next_id_;
    next_id_ = next_id_ == 0x7fffffff ? 1 : next_id_ + 1;
    running->plan = &plan;
    plan.hold(true);
    running->group = &group;
    running->sequence = group.sequence - 1;
    running_.push_back(std::move(running));
    runtime_.messages().set_helper(this);
    if (plan.running()) runtime_.keep_moving();
    return *running_.back();
}

Running* CollectiveContext::find_running(int id) noexcept {
    for (const auto& each : running_) {
        if (each->id == id) return each.get();
    }
    return nullptr;
}

bool CollectiveContext::in_use(const Group& group) const noexcept {
    return std::any_of(running_.begin(), running_.end(),
                       [&](const auto& each) { return each->group == &group; });
}

void CollectiveContext::finish(Running& running) {
    running.plan->finish(messages());
}

bool CollectiveContext::advance(Running& running) {
    return !running.plan->running() || running.plan->advance(messages());
}

bool CollectiveContext::whole_matrix_wanted(const Shape& shape) {
    const auto& wanted = wanted_for(shape);
    return wanted && wanted->transport == Transport::kMessages &&
           !wanted->choice.algorithm->own_lengths_suffice;
}

void CollectiveContext::end(Running& running) {
    running.plan->hold(false);
    const auto at = std::find_if(running_.begin(), running_.end(),
                                 [&](const auto& each) { return each.get() == &running; });
    spare_.push_back(std::move(*at));
    running_.erase(at);
    if (running_.empty()) runtime_.messages().set_helper(nullptr);
}

bool CollectiveContext::help(bool users_functions) {
    bool moved = false;
    for (const auto& each : running_) {
        if (!users_functions && each->plan->calls_users_function()) continue;
        if (each->plan->running()) moved = each->plan->advance(messages()) || moved;
    }
    return moved;
}

}  // namespace poe::collectives
