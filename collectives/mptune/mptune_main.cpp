// mptune: measures what messages cost and writes the tuning file; explains and checks the choices
// that collective calls make with it. An MPL program that starts poe itself. See mptune(1).
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/fold.hpp"
#include "base/parse.hpp"
#include "base/segment/tuning_path.hpp"
#include "collectives/api/api_context.hpp"
#include "collectives/mptune/call_grid.hpp"
#include "collectives/mptune/candidate_timing.hpp"
#include "collectives/mptune/experiments.hpp"
#include "collectives/mptune/in_group.hpp"
#include "collectives/mptune/postal_report.hpp"
#include "collectives/mptune/send_explanation.hpp"
#include "collectives/mptune/tuning_store.hpp"
#include "collectives/selection/method.hpp"
#include "collectives/selection/multicast_cost.hpp"
#include "comm/api/mpproto.h"
#include "comm/bootstrap/autostart.hpp"

extern char** environ;

namespace poe::collectives {
namespace {

constexpr const char* kHelp =
    "usage: mptune [-o FILE] [-longest BYTES]\n"
    "       mptune -explain OPERATION BYTES N\n"
    "       mptune -explain send\n"
    "       mptune -check [-procs N]\n"
    "       mptune -table [-o FILE]\n"
    "       mptune -postal [BYTES]\n"
    "Measures messages and writes the tuning file, from which collective calls choose their "
    "algorithms.\n"
    "  -explain  each candidate of a call, predicted and measured; with \"send\", what messages "
    "cost streamed and fetched\n"
    "  -check    how often calls take nearly the best algorithm\n"
    "  -table    measures calls and records where the model is wrong\n"
    "  -postal   the tables of the postal model, and lambda and broadcasts predicted and measured\n"
    "Flags of poe say where and with how many tasks; see mptune(1).\n";
constexpr int kUsualTasks = 4;
constexpr int kPostalTasks = 8;
constexpr Bytes kUsualPostalBytes = 512;  // as in the paper

struct Arguments {
    enum class What {
        kMeasure,
        kExplain,
        kExplainSend,
        kCheck,
        kTable,
        kPostal
    } what = What::kMeasure;
    std::string file;  // empty: the default
    Operation operation = Operation::kBcast;
    Bytes bytes = 0;
    std::uint32_t n = 0;
    Bytes longest = kLongestMeasured;
};

std::optional<std::uint64_t> number_of(std::string_view text) {
    const auto number = take_number<std::uint64_t>(text);
    if (!number || *number > (std::uint64_t{1} << 40)) return std::nullopt;
    if (text.empty()) return number;
    if (text == "k" || text == "K") return *number << 10;
    if (text == "m" || text == "M") return *number << 20;
    return std::nullopt;
}

UserError mistake(std::string text, std::string expected) {
    UserError error;
    error.source = "mptune";
    error.text = std::move(text);
    error.expected = std::move(expected);
    return error;
}

Result<Arguments> read_explain(Arguments arguments, const std::vector<std::string>& words) {
    if (words.size() < 3)
        return mistake("-explain lacks a word", "expected as in \"mptune -explain bcast 64k 16\"");
    const Result<Operation> operation = read_operation(words[0]);
    if (!operation) return operation.error();
    arguments.operation = operation.value();
    const auto bytes = number_of(words[1]);
    if (!bytes || *bytes > (std::uint64_t{1} << 30))
        return mistake("\"" + words[1] + "\" is no number of bytes",
                       "expected up to 1024m, with k or m for powers of 1024");
    const auto n = number_of(words[2]);
    if (!n || *n < 2 || *n > 1024)
        return mistake("\"" + words[2] + "\" is no number of tasks", "expected 2 to 1024");
    arguments.what = Arguments::What::kExplain;
    arguments.bytes = *bytes;
    arguments.n = static_cast<std::uint32_t>(*n);
    return arguments;
}

// If the process is not a task yet, the words may include flags of poe, which are not checked here.
Result<Arguments> read(const std::vector<std::string>& words, bool is_task) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "-check") {
            arguments.what = Arguments::What::kCheck;
        } else if (words[i] == "-table") {
            arguments.what = Arguments::What::kTable;
        } else if (words[i] == "-o" && i + 1 < words.size()) {
            arguments.file = words[++i];
            if (arguments.file.empty())
                return mistake("-o: the name is empty", "expected that of a file");
        } else if (words[i] == "-longest" && i + 1 < words.size()) {
            const auto longest = number_of(words[++i]);
            if (!longest || *longest < kLeastLongest || *longest > kLongestMeasured)
                return mistake(
                    "-longest: \"" + words[i] + "\" is no length that can be measured up to",
                    "expected 256 to 1m, with k or m for powers of 1024");
            arguments.longest = *longest;
        } else if (words[i] == "-postal") {
            arguments.what = Arguments::What::kPostal;
            arguments.bytes = kUsualPostalBytes;
            const auto bytes =
                i + 1 < words.size() ? number_of(words[i + 1]) : std::optional<std::uint64_t>();
            if (!bytes) continue;
            if (*bytes < 1 || *bytes > kLongestMeasured)
                return mistake(
                    "-postal: \"" + words[i + 1] + "\" is no length that can be measured",
                    "expected 1 to 1m, with k or m for powers of 1024");
            arguments.bytes = *bytes;
            ++i;
        } else if (words[i] == "-explain") {
            const auto rest = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
            if (rest != words.end() && *rest == "send") {
                arguments.what = Arguments::What::kExplainSend;
                ++i;
                continue;
            }
            Result<Arguments> read = read_explain(arguments, {rest, words.end()});
            if (!read) return read;
            arguments = read.value();
            i += 3;
        } else if (is_task) {
            return mistake("\"" + words[i] + "\" is no flag, or lacks its value", "see mptune -h");
        }
    }
    return arguments;
}

std::string host() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return name;
}

// Becomes poe, with a suitable number of tasks unless the user has set one. Does not return.
[[noreturn]] void start_tasks(const Arguments& arguments, const std::vector<std::string>& words) {
    int count = kUsualTasks;
    if (arguments.what == Arguments::What::kExplainSend) count = 2;
    if (arguments.what == Arguments::What::kPostal) count = kPostalTasks;
    if (arguments.what == Arguments::What::kExplain) count = static_cast<int>(arguments.n);
    if (arguments.what == Arguments::What::kCheck || arguments.what == Arguments::What::kTable)
        count = kMostTasksOfGrid;
    if (!comm::wants_poe(words, environ)) ::setenv("MP_PROCS", std::to_string(count).c_str(), 1);
    comm::become_poe(words);
}

// --- measuring

struct Players {
    std::vector<int> node;     // that share a node, task 0 first
    std::vector<int> network;  // one of each node, task 0 first; all tasks if all messages go over
                               // TCP
};

Players find_players() {
    comm::Runtime& runtime = comm::the_runtime();
    Players players;
    const bool shared = !runtime.all_by_tcp();
    std::map<NodeIndex, int> seen;
    for (std::uint32_t task = 0; task < runtime.tasks(); ++task) {
        const NodeIndex node = runtime.segment()->node_of(static_cast<TaskId>(task));
        const bool first = seen.emplace(node, static_cast<int>(task)).second;
        const bool here = node == runtime.segment()->node_of(0);
        if (here && shared) players.node.push_back(static_cast<int>(task));
        if (first || !shared) players.network.push_back(static_cast<int>(task));
    }
    return players;
}

void measure_level(const char* name, const std::vector<int>& players, Bytes longest,
                   CostModel& model, bool tell) {
    if (players.size() < 2) return;
    const std::vector<LengthMeasured> lengths = measure_lengths(players, longest);
    measure_sharing(players, longest, model);
    if (!tell) return;
    fit_messages(lengths, model);
    if (players.size() > 2) fit_lambdas(lengths, model);
    std::printf("level %s, %zu tasks\n%10s %12s %10s %10s %10s %10s\n", name, players.size(),
                "bytes", "one way us", "t0 us", "lambda", "t0 us", "lambda");
    std::printf("%34s %21s\n", "experiment 1", "experiment 2");
    for (const LengthMeasured& each : lengths) {
        const Postal& postal = each.postal;
        std::printf("%10llu %12.2f %10.2f %10.2f %10.2f %10.2f%s\n",
                    static_cast<unsigned long long>(each.bytes), each.one_way, postal.first_t0,
                    postal.first_lambda, postal.second_t0, postal.second_lambda,
                    postal.disagree() ? "  they disagree: not used" : "");
    }
    if (players.size() < 3)
        std::printf(
            "two tasks are too few to measure lambda, message and load: their values are kept\n");
    std::printf(
        "a message takes %.3g us and %.3g us for each byte; each message of all tasks %.3g us, "
        "each byte of all %.3g us\n\n",
        model.start_up, model.transfer, model.message, model.load);
}

// Lengths for which multicast may be chosen.
void measure_multicast(const std::vector<int>& players, Bytes longest, CostModel& model, int me) {
    constexpr double kBudget = 300'000;  // microseconds of a length
    std::vector<Bytes> lengths;
    for (const Bytes bytes : {Bytes{16} << 10, Bytes{64} << 10, Bytes{256} << 10, kLongestMeasured})
        if (bytes <= longest) lengths.push_back(bytes);
    if (players.size() < 2 || lengths.size() < 2 || comm::the_runtime().nodes() < 2) return;
    std::vector<MulticastMeasured> measured;
    in_group(players, me, [&](CollectiveContext& library, Group& group) {
        measured = time_multicast(library, group, lengths, kBudget);
    });
    if (me != 0) return;
    if (measured.empty()) {
        std::printf("no multicast between these tasks\n\n");
        return;
    }
    fit_multicast(measured, static_cast<std::uint32_t>(players.size()), model);
    std::printf("broadcast by multicast, %zu tasks\n%10s %12s\n", players.size(), "bytes", "us");
    for (const MulticastMeasured& each : measured)
        std::printf("%10llu %12.2f\n", static_cast<unsigned long long>(each.bytes), each.time);
    std::printf(
        "it takes %.3g us for the root and each level of reports, and %.3g us for each byte\n\n",
        model.multicast, model.multicast_byte);
}

unsigned cores() {
    return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

// Returns the present content of the file at task 0, and an empty tuning at the others. If the file
// must not be replaced, task 0 reports why and all return nothing. Call it before the measurements,
// which take a while.
std::optional<StoredTuning> begin_with(const std::string& path, int me) {
    const Result<StoredTuning> stored = me == 0 ? read_stored(path, cores()) : StoredTuning{};
    if (!stored)
        std::fprintf(stderr, "mptune: %s. Mend or remove it, or name another file with -o\n",
                     stored.error().str().c_str());
    std::uint32_t may_begin = stored ? 1 : 0;
    mpc_bcast(&may_begin, sizeof may_begin, 0, ALLGRP);
    if (may_begin == 0) return std::nullopt;
    return stored ? stored.value() : StoredTuning{};
}

// Returns an exit status.
int write(const std::string& path, const StoredTuning& stored) {
    const std::string fault = replace_file(path, tuning_text(stored.tuning, stored.head));
    if (fault.empty()) return 0;
    std::fprintf(stderr, "mptune: cannot write %s: %s\n", path.c_str(), fault.c_str());
    return 1;
}

// Tasks need not have the variables of the process that started poe, so poe names the file.
std::string usual_path() {
    const char* handed = std::getenv(kTuningVariable);
    if (handed != nullptr) return std::string(handed, std::strcspn(handed, "\n"));
    return tuning_path([](const char* name) { return std::getenv(name); }, host());
}

int no_place(int tasks, int me) {
    if (me == 0)
        std::fprintf(stderr, "mptune: %s\n",
                     tasks < 2 ? "one task cannot measure; start it with -procs 4"
                               : "neither MP_TUNEFILE nor HOME says where to write; give -o FILE");
    return 2;
}

std::string head(const char* what, int tasks) {
    return std::string(what) + " on " + host() + ", measured by mptune with " +
           std::to_string(tasks) + " tasks. See mptune(1).";
}

int measure(const Arguments& arguments, int me, int tasks) {
    const std::string path = arguments.file.empty() ? usual_path() : arguments.file;
    if (tasks < 2 || path.empty()) return no_place(tasks, me);
    std::optional<StoredTuning> stored = begin_with(path, me);
    if (!stored) return 1;
    const Players players = find_players();
    Tuning& tuning = stored->tuning;
    measure_level("node", players.node, arguments.longest, tuning.node, me == 0);
    measure_level("network", players.network, arguments.longest, tuning.network, me == 0);
    measure_multicast(players.network, arguments.longest, tuning.network, me);
    if (me != 0) return 0;
    stored->head = head("What messages cost", tasks);
    if (write(path, *stored) != 0) return 1;
    std::printf("written to %s\n", path.c_str());
    return 0;
}

// Earlier measurements of other calls, and the cost of messages, are kept.
int make_table(const Arguments& arguments, int me, int tasks) {
    const std::string path = arguments.file.empty() ? usual_path() : arguments.file;
    if (tasks < 2 || path.empty()) return no_place(tasks, me);
    std::optional<StoredTuning> stored = begin_with(path, me);
    if (!stored) return 1;
    const GridBests found = bests_of_grid(me, tasks);
    if (me != 0) return 0;
    Tuning& tuning = stored->tuning;
    CostModel& model = found.on_network ? tuning.network : tuning.node;
    std::erase_if(model.bests,
                  [tasks](const MeasuredBest& each) { return is_of_grid(each, tasks); });
    model.bests.insert(model.bests.end(), found.bests.begin(), found.bests.end());
    if (stored->head.empty()) stored->head = head("Calls for which the model is wrong", tasks);
    if (write(path, *stored) != 0) return 1;
    std::printf("%zu calls for which the model is wrong; written to %s\n", found.bests.size(),
                path.c_str());
    return 0;
}

int compare_postal(const Arguments& arguments, int me) {
    const Players players = find_players();
    const bool network = players.network.size() > 2;
    if (!network && players.node.size() < 3) {
        if (me == 0)
            std::fprintf(stderr,
                         "mptune: three tasks on one node or on three nodes are needed to measure "
                         "lambda; start it with -procs 8\n");
        return 2;
    }
    return report_postal(network ? players.network : players.node, arguments.bytes, me);
}

// Returns `status` if all output was written, otherwise 1.
int end_of_output(int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fprintf(stderr, "mptune: cannot write to standard output: %s\n", std::strerror(errno));
    return 1;
}

int run(const Arguments& arguments, int me, int tasks) {
    switch (arguments.what) {
        case Arguments::What::kMeasure:
            return measure(arguments, me, tasks);
        case Arguments::What::kExplain:
            return explain(arguments.operation, arguments.bytes, arguments.n, me, tasks);
        case Arguments::What::kExplainSend:
            return explain_sends(me, tasks);
        case Arguments::What::kCheck:
            return check_grid(me, tasks);
        case Arguments::What::kTable:
            return make_table(arguments, me, tasks);
        case Arguments::What::kPostal:
            return compare_postal(arguments, me);
    }
    return 2;
}

}  // namespace
}  // namespace poe::collectives

int main(int count, char** words) {
    using namespace poe::collectives;
    const std::vector<std::string> arguments(words + 1, words + count);
    if (!arguments.empty() && (arguments[0] == "--version" || arguments[0] == "-version")) {
        std::puts("mptune " POE_VERSION);
        return 0;
    }
    if (!arguments.empty() && (arguments[0] == "-h" || arguments[0] == "--help")) {
        std::fputs(poe::folded_help(kHelp, STDOUT_FILENO).c_str(), stdout);
        return end_of_output(0);
    }
    const bool launched = std::getenv("MP_CHILD") != nullptr ||
                          std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
    const auto read_arguments = read(arguments, launched);
    if (!read_arguments && !launched) {
        std::fprintf(stderr, "%s\n", read_arguments.error().str().c_str());
        return 2;
    }
    if (!launched) start_tasks(read_arguments.value(), {words, words + count});
    int tasks = 0;
    int me = 0;
    if (mpc_environ(&tasks, &me) != 0) return 1;
    if (!read_arguments) {
        if (me == 0) std::fprintf(stderr, "%s\n", read_arguments.error().str().c_str());
        return 2;
    }
    // Reports what is wrong with the environment before anything is measured.
    if (mpc_sync(ALLGRP) != 0) return 2;
    return end_of_output(run(read_arguments.value(), me, tasks));
}
