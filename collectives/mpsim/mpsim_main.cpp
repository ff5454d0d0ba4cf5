// mpsim: what a collective operation would cost. Runs the simulator and prints a table, a tree or a
// drawing. See mpsim(1).
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/fold.hpp"
#include "collectives/mpsim/message_drawing.hpp"
#include "collectives/mpsim/mpsim_arguments.hpp"
#include "collectives/mpsim/plan_simulation.hpp"
#include "collectives/selection/catalogue.hpp"

namespace poe::collectives {
namespace {

// The limits of one algorithm, for all ranks: its steps must fit into memory, and the simulation
// must end in an acceptable time.
constexpr double kMostMessages = 1e8;
constexpr double kMostPieces = 1e9;
// The limit of a table of several algorithms, in messages: about ten seconds.
constexpr double kMostWork = 4.5e7;

// Returns the algorithm that the user names, or all that support the shape.
std::vector<Choice> choices_of(const SimulatorArguments& arguments) {
    const Shape& shape = arguments.shape;
    std::vector<Choice> choices;
    for (const Algorithm& each : catalogue()) {
        if (each.operation != shape.operation) continue;
        if (arguments.choice && arguments.choice->algorithm != &each) continue;
        Choice choice{&each, each.fallback(shape)};
        if (arguments.choice && arguments.choice->parameter >= 0)
            choice.parameter = arguments.choice->parameter;
        // Lambda trees are made for the lambda of the model.
        else if (each.parameter != nullptr && std::string_view(each.parameter) == "lambda")
            choice.parameter = arguments.numbers.at("-lambda");
        else if (each.sends_by_ports && arguments.numbers.at("-ports") > 1)
            choice.parameter = arguments.numbers.at("-ports");
        if (each.fits(shape, choice.parameter)) choices.push_back(choice);
    }
    return choices;
}

// Pieces and copies make the schedules of an index long, however few its messages are. All ranks
// together sort n^2 blocks; with two levels, the leaders do so twice. Irregular algorithms have n^2
// pieces per rank, and handle each about ten times.
double pieces_of(const Choice& choice, const Shape& shape) {
    const double n = shape.n;
    if (shape.operation != Operation::kIndex) return 0;
    if (choice.algorithm->counts == nullptr) return 10 * n * n * n;
    return choice.algorithm->within != nullptr ? 2 * n * n : n * n;
}

// An estimate, from the messages that the root and a few other ranks send.
double messages_of(const Choice& choice, const Generator& generate, const Shape& shape) {
    constexpr std::uint32_t kSample = 8;
    const double n = shape.n;
    if (choice.algorithm->counts != nullptr) {
        const auto rounds = choice.algorithm->counts(shape, choice.parameter).c1;
        if (static_cast<double>(rounds) > kMostMessages / 10) return kMostMessages * 2;
    }
    Schedule schedule;
    const auto sends = [&](std::uint32_t rank) {
        schedule.clear();
        generate(static_cast<Rank>(rank), schedule);
        double sum = 0;
        for (const Step& step : schedule.steps()) sum += step.kind == StepKind::kSend ? 1 : 0;
        return sum;
    };
    double others = 0;
    for (std::uint32_t i = 0; i < kSample; ++i)
        others += sends(static_cast<std::uint32_t>((i + 0.5) / kSample * n));
    return sends(static_cast<std::uint32_t>(shape.root)) + others / kSample * n;
}

struct Row {
    Choice choice;
    Generator generate;
    double work = 0;      // in messages
    std::string missing;  // why it is not simulated; empty: it is simulated
};

Row row_of(const Choice& choice, const SimulatorArguments& arguments) {
    // A message takes as long as ten pieces. It takes longer if ranks share something and are
    // simulated in the order of time.
    constexpr double kPieces = 10;
    const bool in_order = !arguments.shape.nodes.empty() || arguments.numbers.at("-cores") > 0 ||
                          !arguments.mesh.empty();
    Row row{choice, {}, 0, {}};
    const double pieces = pieces_of(choice, arguments.shape);
    double messages = 0;
    if (pieces <= kMostPieces) {
        row.generate = choice.make(arguments.shape);
        messages = messages_of(choice, row.generate, arguments.shape);
    }
    if (pieces > kMostPieces || messages > kMostMessages)
        row.missing = "has more messages or pieces than can be simulated";
    row.work = messages * (in_order ? 3 : 1) + pieces / kPieces;
    return row;
}

// The cheapest algorithms are simulated, as many as the time limit allows; a single one always is.
std::vector<Row> rows_of(const std::vector<Choice>& choices, const SimulatorArguments& arguments) {
    std::vector<Row> rows;
    std::vector<Row*> cheapest;
    for (const Choice& choice : choices) rows.push_back(row_of(choice, arguments));
    for (Row& row : rows) {
        if (row.missing.empty()) cheapest.push_back(&row);
    }
    std::stable_sort(cheapest.begin(), cheapest.end(),
                     [](const Row* a, const Row* b) { return a->work < b->work; });
    double sum = 0;
    for (Row* row : cheapest) {
        sum += row->work;
        if (sum > kMostWork && choices.size() > 1)
            row->missing =
                "takes too long to be simulated with the others: name it to simulate it alone";
    }
    return rows;
}

int run(const SimulatorArguments& arguments) {
    const Shape& shape = arguments.shape;
    const MessageModel model = arguments.message_model();
    const SimulatedNodes nodes = arguments.simulated_nodes();
    const SimulatedCores cores = arguments.simulated_cores();
    const std::vector<Choice> choices = choices_of(arguments);
    if (choices.empty()) {
        std::fprintf(stderr, "mpsim: %s does not fit %u ranks%s\n",
                     arguments.choice->algorithm->name, shape.n,
                     shape.nodes.empty() ? "" : " on these nodes");
        return 2;
    }
    const bool draw = arguments.tree || !arguments.svg.empty();
    if (draw && choices.size() > 1) {
        std::fprintf(stderr,
                     "mpsim: name the algorithm to draw, as in \"mpsim bcast lambda:2 -tree\"\n");
        return 2;
    }
    if (!draw)
        std::printf("%-20s %14s %10s %14s %16s %12s\n", "algorithm", "time us", "C1", "C2", "C3",
                    "messages");
    for (const auto& [choice, generate, work, missing] : rows_of(choices, arguments)) {
        if (!missing.empty()) {
            std::printf("%-20s %s\n", choice.text().c_str(), missing.c_str());
            continue;
        }
        std::vector<SimulatedMessage> messages;
        const auto keep = [&](const SimulatedMessage& message) { messages.push_back(message); };
        const Simulation result =
            draw ? simulate(shape.n, generate, model, keep, nodes, cores, arguments.placed)
                 : simulate(shape.n, generate, model, {}, nodes, cores, arguments.placed);
        if (result.too_long && choices.size() > 1) {
            std::printf("%-20s cannot be simulated: %s\n", choice.text().c_str(),
                        result.fault.c_str());
            continue;
        }
        if (!result.fault.empty()) {
            std::fprintf(stderr, "mpsim: %s: %s\n", choice.text().c_str(), result.fault.c_str());
            return 1;
        }
        if (arguments.tree) std::fputs(messages_text(shape, messages).c_str(), stdout);
        if (!arguments.svg.empty()) {
            std::ofstream file(arguments.svg);
            file << messages_svg(shape.n, result.time, messages);
            file.close();
            if (!file) {
                std::fprintf(stderr, "mpsim: cannot write %s\n", arguments.svg.c_str());
                return 1;
            }
        }
        if (draw) continue;
        std::printf("%-20s %14.2f %10llu %14llu %16llu %12llu\n", choice.text().c_str(),
                    result.time, static_cast<unsigned long long>(result.counts.c1),
                    static_cast<unsigned long long>(result.counts.c2),
                    static_cast<unsigned long long>(result.counts.c3),
                    static_cast<unsigned long long>(result.messages));
    }
    return 0;
}

// Lost output is reported once.
int finished(int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fprintf(stderr, "mpsim: cannot write all of the output: %s\n", std::strerror(errno));
    return 1;
}

constexpr const char* kHelp =
    "usage: mpsim OPERATION [ALGORITHM[:NUMBER]] [FLAG...]\n"
    "       mpsim -plan FILE [FLAG...]   what a plan of vt -plan would gain\n"
    "Tells what a collective operation costs by a model: time, C1, C2, C3. Without an "
    "algorithm: all.\n"
    "  -n RANKS (16)      up to 1048576\n"
    "  -m BYTES (1k)      of the vector, or of a block; k, m, g for powers of 1024\n"
    "  -root RANK (0)\n"
    "  -model linear      ts + m tc (the default): -ts (1), -tc (0.001), microseconds\n"
    "         postal      the same, and the message arrives lambda times that later: -lambda (1)\n"
    "         loggp       -L (5), -o (1), -g (1), -G (0.001)\n"
    "  -nodes N           the ranks share N nodes, each with one cable; NxR: R ranks on each\n"
    "  -turns             ranks are placed on the nodes in turn, else in blocks\n"
    "  -nts (0.05), -ntc (0.00005)  ts and tc within a node\n"
    "  -cores N           the ranks of each node share N cores; else each rank has its own\n"
    "  -tt TIME (0)       of such a core, to look whether a rank still waits\n"
    "  -mesh ROWSxCOLUMNS the ranks are on a mesh; a message occupies the links of its path\n"
    "  -shuffle SEED      they are there in a random order, else row by row\n"
    "  -ports N (1)       a rank sends, and receives, N messages in the time of one\n"
    "  -lengths FILE      index: n times n numbers, the bytes from each rank to each\n"
    "  -tw TIME (0)       per byte copied or reduced; -tp (0): for each piece, however short\n"
    "  -tree              write from whom each rank receives, and when\n"
    "  -svg FILE          draw all messages over time\n"
    "See mpsim(1).\n";

}  // namespace
}  // namespace poe::collectives

int main(int count, char** words) {
    using namespace poe::collectives;
    const std::vector<std::string> arguments(words + 1, words + count);
    if (!arguments.empty() && (arguments[0] == "--version" || arguments[0] == "-version")) {
        std::puts("mpsim " POE_VERSION);
        return 0;
    }
    if (arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help") {
        const bool mistake = arguments.empty();
        std::fputs(poe::folded_help(kHelp, mistake ? STDERR_FILENO : STDOUT_FILENO).c_str(),
                   mistake ? stderr : stdout);
        return finished(arguments.empty() ? 2 : 0);
    }
    const auto read_arguments = read_simulator_arguments(arguments);
    if (!read_arguments) {
        std::fprintf(
            stderr, "%s\n",
            poe::fold(read_arguments.error().str(), poe::terminal_columns(STDERR_FILENO), 0)
                .c_str());
        return 2;
    }
    const SimulatorArguments& what = read_arguments.value();
    if (what.has_plan) {
        std::fputs(plan_gains_text(what.planned, what.message_model()).c_str(), stdout);
        return finished(0);
    }
    return finished(run(what));
}
