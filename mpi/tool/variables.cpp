// See variables.hpp.
#include "mpi/tool/variables.hpp"

#include <array>
#include <string>
#include <vector>

#include "collectives/engine/paths.hpp"
#include "collectives/engine/process_collectives.hpp"
#include "collectives/schedule/shape.hpp"
#include "collectives/selection/method.hpp"

namespace poe::mpi::tool {
namespace {

using collectives::CollectiveContext;
using collectives::Operation;
using comm::Runtime;

constexpr Category kCategories[] = {{"messages", "point-to-point messages of this task"},
                                    {"progress", "how messages move while this task computes"},
                                    {"collectives", "how collective calls are made"},
                                    {"errors", "errors of calls of MPI"}};

constexpr const char* kNoYes[] = {"no", "yes"};
constexpr Enumeration kSwitch{"switch", kNoYes};

std::uint64_t no_number(const Runtime&) {
    return 0;
}

template <Operation operation>
std::string algorithm_of(Runtime& runtime) {
    const auto& wanted =
        collectives::the_collectives(runtime).overrides()[static_cast<std::size_t>(operation)];
    return wanted ? wanted->text() : "";
}

template <Operation operation>
constexpr ControlVariable algorithm_variable(const char* name) {
    return {name,
            "the algorithm that MP_COLL_ and the name of the operation demands; empty: each call "
            "chooses",
            kCollectives,
            MPI_CHAR,
            nullptr,
            MPI_T_SCOPE_READONLY,
            no_number,
            algorithm_of<operation>,
            nullptr};
}

constexpr std::uint64_t kLongestDelay = 1'000'000;  // microseconds

// Not constexpr, because the handles of datatypes are casts of numbers.
const ControlVariable kControlVariables[] = {
    {"eager_limit", "bytes up to which a message is sent before its receive is posted", kMessages,
     MPI_UNSIGNED_LONG_LONG, nullptr, MPI_T_SCOPE_READONLY,
     [](const Runtime& r) { return std::uint64_t{r.eager_limit()}; }, nullptr, nullptr},
    {"buffer_mem", "bytes of memory for messages that no receive was posted for", kMessages,
     MPI_UNSIGNED_LONG_LONG, nullptr, MPI_T_SCOPE_READONLY,
     [](const Runtime& r) { return std::uint64_t{r.buffer_mem()}; }, nullptr, nullptr},
    {"all_by_tcp", "whether messages within a node go by TCP, too", kMessages, MPI_INT, &kSwitch,
     MPI_T_SCOPE_READONLY, [](const Runtime& r) { return std::uint64_t{r.all_by_tcp()}; }, nullptr,
     nullptr},
    {"progress_thread", "whether a thread moves messages while the task computes", kProgress,
     MPI_INT, &kSwitch, MPI_T_SCOPE_LOCAL,
     [](const Runtime& r) { return std::uint64_t{r.interrupts_enabled()}; }, nullptr,
     [](Runtime& r, std::uint64_t value) {
         if (value > 1) return false;
         r.enable_interrupts(value == 1);
         return true;
     }},
    {"progress_delay",
     "microseconds that a task must have made no call before the thread moves messages", kProgress,
     MPI_UNSIGNED_LONG_LONG, nullptr, MPI_T_SCOPE_LOCAL,
     [](const Runtime& r) { return static_cast<std::uint64_t>(r.interrupt_delay().count()); },
     nullptr,
     [](Runtime& r, std::uint64_t value) {
         if (value > kLongestDelay) return false;
         r.set_interrupt_delay(std::chrono::microseconds(value));
         return true;
     }},
    algorithm_variable<Operation::kBcast>("algorithm_bcast"),
    algorithm_variable<Operation::kReduce>("algorithm_reduce"),
    algorithm_variable<Operation::kCombine>("algorithm_combine"),
    algorithm_variable<Operation::kPrefix>("algorithm_prefix"),
    algorithm_variable<Operation::kScatter>("algorithm_scatter"),
    algorithm_variable<Operation::kGather>("algorithm_gather"),
    algorithm_variable<Operation::kConcat>("algorithm_concat"),
    algorithm_variable<Operation::kIndex>("algorithm_index"),
    algorithm_variable<Operation::kSync>("algorithm_sync"),
};

std::uint64_t calls_by_path(Runtime& runtime, std::uint64_t path) {
    return collectives::the_collectives(runtime).calls_by_path(static_cast<std::size_t>(path));
}

// The rows that are written here, and one for each path of blocking collective calls.
std::vector<PerformanceVariable> make_performance_variables() {
    std::vector<PerformanceVariable> all = {
        {"unexpected_messages",
         "messages that have arrived or were announced, and that no receive has "
         "taken yet",
         kMessages, MPI_T_PVAR_CLASS_LEVEL,
         [](Runtime& r, std::uint64_t) {
             return std::uint64_t{r.messages().unexpected_messages()};
         },
         0},
        {"posted_receives", "receives that wait for a message", kMessages, MPI_T_PVAR_CLASS_LEVEL,
         [](Runtime& r, std::uint64_t) { return std::uint64_t{r.messages().posted_receives()}; },
         0},
        {"bytes_sent", "bytes that this task has sent, also in collective calls", kMessages,
         MPI_T_PVAR_CLASS_COUNTER,
         [](Runtime& r, std::uint64_t) { return r.traffic().sent.load(std::memory_order_relaxed); },
         0},
        {"bytes_received", "bytes that this task has received, also in collective calls", kMessages,
         MPI_T_PVAR_CLASS_COUNTER,
         [](Runtime& r, std::uint64_t) {
             return r.traffic().received.load(std::memory_order_relaxed);
         },
         0}};
    static std::vector<std::string> names;  // of the paths, as long as the table
    const auto paths = collectives::paths();
    names.reserve(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
        names.push_back(std::string("collectives_by_") + paths[i].name);
        all.push_back({names.back().c_str(),
                       "blocking collective calls that this task has made in this way",
                       kCollectives, MPI_T_PVAR_CLASS_COUNTER, calls_by_path, i});
    }
    return all;
}

}  // namespace

std::span<const Category> categories() {
    return kCategories;
}

std::span<const ControlVariable> control_variables() {
    return kControlVariables;
}

std::span<const PerformanceVariable> performance_variables() {
    static const std::vector<PerformanceVariable> all = make_performance_variables();
    return all;
}

}  // namespace poe::mpi::tool
