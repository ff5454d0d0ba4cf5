// The collective operations of one task; see collective_context.hpp.
#include "collectives/engine/collective_context.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string_view>
#include <strings.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/segment/tuning_path.hpp"
#include "base/segment/tuning_text.hpp"
#include "collectives/schedule/algorithms/algorithms.hpp"
#include "collectives/schedule/barrier.hpp"
#include "collectives/selection/catalogue.hpp"
#include "collectives/selection/method.hpp"
#include "comm/api/api_call.hpp"

namespace poe::collectives {
namespace {

// Shape::step of calls that the library makes for itself. In a broadcast or concat of a user it is 0.
constexpr int kInternal = -1;

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
                                     LevelsMaker make_levels)
    : runtime_(runtime),
      make_levels_(make_levels),
      variables_(variables),
      groups_(runtime.tasks(), runtime.task()) {
    read_modes(variables);
    Result<Overrides> overrides = read_overrides(variables);
    if (overrides) {
        overrides_ = overrides.value();
    } else if (failure_.empty()) {
        failure_ = overrides.error().str();
    }
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

// All members of a group must make the same choice, on whatever nodes they are. Therefore the
// tuning is the text that poe has passed to all tasks, or a file that the user has named for all
// tasks.
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

std::vector<std::uint32_t> CollectiveContext::nodes_of(const Group& group) const {
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

// True if the user names an algorithm that supports the shape. All members decide alike.
bool CollectiveContext::algorithm_wanted_for(const Group& group, const Shape& shape) const {
    if (!wanted_for(shape) || wanted_for(shape)->transport != Transport::kMessages) return false;
    Shape placed = shape;
    placed.nodes = nodes_of(group);
    return wanted_choice(placed, overrides_).has_value();
}

// Returns the transport that the user names; otherwise the measured one; otherwise the default.
Transport CollectiveContext::wanted_transport(const Shape& shape, bool by_name) {
    if (by_name) return Transport::kMessages;
    if (const auto& wanted = wanted_for(shape); wanted && wanted->transport != Transport::kMessages)
        return wanted->transport;
    const MeasuredBest* best = tuning().node.best(shape);
    return best != nullptr ? best->method.transport : default_transport(shape);
}

CollectiveContext::Route CollectiveContext::find_route(Group& group, const Shape& shape) {
    Route route;
    if (shape.is_regular()) {
        route.bytes = shape.bytes;
        route.element = shape.element;
        route.gid = group.gid;
        route.operation = shape.operation;
        route.commutative = shape.commutative;
        route.exact = shape.exact;
    }
    route.by_name = algorithm_wanted_for(group, shape);
    const Transport wanted = wanted_transport(shape, route.by_name);
    if (wanted == Transport::kMessages) return route;
    const auto reach = [&] { return possible_direct(group, shape) != nullptr; };
    bool direct = wanted == Transport::kDirect && reach();
    if (!direct && possible_local(group, shape) != nullptr) {
        route.transport = Transport::kShared;
        route.local = state_of(group).local->route(shape, barrier_);
        return route;
    }
    direct = direct || (wanted == Transport::kShared && reach());
    if (direct) route.transport = Transport::kDirect;
    return route;
}

ShmCollectives* CollectiveContext::possible_local(Group& group, const Shape& shape) {
    if (!ShmCollectives::fits(shape)) return nullptr;
    // In barrier mode these calls would need a barrier of their own.
    const bool from_root =
        shape.operation == Operation::kBcast || shape.operation == Operation::kScatter;
    if (barrier_ && from_root) return nullptr;
    ShmCollectives* local = memory_of(group);
    return local != nullptr && local->has_memory_for(shape) ? local : nullptr;
}

SingleCopyCalls* CollectiveContext::possible_direct(Group& group, const Shape& shape) {
    if (!SingleCopyCalls::fits(shape)) return nullptr;
    std::unique_ptr<SingleCopyCalls>& direct = state_of(group).direct;
    if (direct == nullptr) {
        ShmCollectives* local = memory_of(group);
        if (local == nullptr) return nullptr;
        direct = std::make_unique<SingleCopyCalls>(runtime_, group, *local);
    }
    return direct->allowed() ? direct.get() : nullptr;
}

// Finds out at the first call whether the group has shared memory. Blocks then.
ShmCollectives* CollectiveContext::memory_of(Group& group) {
    std::unique_ptr<ShmCollectives>& local = state_of(group).local;
    if (local == nullptr) {
        local = std::make_unique<ShmCollectives>();
        if (!ShmCollectives::possible(runtime_, group)) return nullptr;
        // 0: all pieces are in use.
        std::uint32_t piece = 0;
        if (group.me == 0) {
            const auto taken = ShmCollectives::take_memory(runtime_);
            if (taken) piece = *taken + 1;
        }
        if (bcast_internal(group, piece, next_type(group)) != nullptr) return nullptr;
        if (piece != 0) local = std::make_unique<ShmCollectives>(runtime_, group, piece - 1);
    }
    return local->available() ? local.get() : nullptr;
}

// In barrier mode, calls run schedules, because barriers are added to schedules.
CallPath* CollectiveContext::levels_for(Group& group, const Shape& shape) {
    if (runtime_.nodes() == 1 || barrier_) return nullptr;
    std::unique_ptr<CallPath>& levels = state_of(group).levels;
    if (levels == nullptr) levels = make_levels_(*this, group, nodes_of(group));
    return levels->fits(shape) ? levels.get() : nullptr;
}

bool CollectiveContext::in_two_levels(const Shape& placed) {
    return std::string_view(choice_for(placed).algorithm->name) == "two-level";
}

Plan* CollectiveContext::run_blocking(Group& group, const CollectiveCall& call) {
    const Route& route = route_for(group, call.shape);
    if (route.transport == Transport::kShared) {
        state_of(group).local->run(route.local, call.shape, call.run);
        return nullptr;
    }
    if (route.transport == Transport::kDirect) {
        state_of(group).direct->run(call.shape, call.run, barrier_);
        return nullptr;
    }
    // If the user names an algorithm, its messages are used.
    CallPath* levels = route.by_name ? nullptr : levels_for(group, call.shape);
    if (levels != nullptr) return levels->run(call);
    Plan& plan = plan_for(group, call);
    begin(group, plan, call.run);
    plan.finish(messages());
    return &plan;
}

Plan& CollectiveContext::plan_for(Group& group, const CollectiveCall& call) {
    const Shape& shape = call.shape;
    const bool users = call.run.reduction.function != nullptr && call.run.reduction.name == nullptr;
    return kept_or_new(group, shape, users, [&] {
        Shape placed = shape;
        placed.nodes = nodes_of(group);
        Generator generate = choice_for(placed).make(placed);
        return barrier_ ? with_barrier(shape, std::move(generate)) : generate;
    });
}

std::int32_t CollectiveContext::next_type(Group& group) {
    const std::uint32_t sequence = group.sequence++;
    for (const auto& each : running_) {
        if (each->group == &group && sequence - each->sequence >= kCallsAtOnce)
            each->plan->finish(messages());
    }
    return message_type(group, sequence);
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
    Plan& plan = kept_or_new(group, shape, false, [&] { return concat_circulant(shape); });
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

Plan* CollectiveContext::allgather_counts(Group& group, std::vector<Bytes>& matrix) {
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
    runtime_.messages().set_helper([this](bool users) { return advance_all(users); });
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
    const auto wanted = wanted_choice(shape, overrides_);
    return wanted && std::string_view(wanted->algorithm->name) != "pairwise";
}

void CollectiveContext::end(Running& running) {
    running.plan->hold(false);
    const auto at = std::find_if(running_.begin(), running_.end(),
                                 [&](const auto& each) { return each.get() == &running; });
    spare_.push_back(std::move(*at));
    running_.erase(at);
    if (running_.empty()) runtime_.messages().set_helper({});
}

bool CollectiveContext::advance_all(bool users_functions) {
    bool moved = false;
    for (const auto& each : running_) {
        if (!users_functions && each->plan->calls_users_function()) continue;
        if (each->plan->running()) moved = each->plan->advance(messages()) || moved;
    }
    return moved;
}

}  // namespace poe::collectives
