// mpsim: what a collective operation would cost. Reads its arguments, runs the simulator, prints a
// table, a tree or a picture. See mpsim(1).
#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/chooser.hpp"
#include "collectives/message_drawing.hpp"
#include "collectives/simulator.hpp"

namespace poe::collectives {
namespace {

constexpr std::uint32_t kMostRanks = 1u << 20;
// Steps of all ranks that fit into memory and into a person's patience.
constexpr double kMostMessages = 1e8;

struct Arguments {
    Operation operation = Operation::kBcast;
    std::optional<Choice> choice;
    Shape shape;
    std::map<std::string, double> numbers{{"-n", 16},     {"-m", 1024},   {"-root", 0}, {"-ts", 1},
                                          {"-tc", 0.001}, {"-lambda", 1}, {"-L", 5},    {"-o", 1},
                                          {"-g", 1},      {"-G", 0.001},  {"-tw", 0}};
    std::string model = "linear";
    bool tree = false;
    std::string svg;
};

std::optional<double> number_of(std::string_view text) {
    double number = 0;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{}) return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
    if (unit == "k" || unit == "K") return number * 1024;
    if (unit == "m" || unit == "M") return number * 1024 * 1024;
    if (unit == "g" || unit == "G") return number * 1024 * 1024 * 1024;
    if (!unit.empty()) return std::nullopt;
    return number;
}

UserError mistake(std::string text, std::string expected) {
    UserError error;
    error.source = "mpsim";
    error.text = std::move(text);
    error.expected = std::move(expected);
    return error;
}

std::optional<Operation> operation_of(std::string_view name) {
    for (std::size_t i = 0; i < kOperations; ++i) {
        if (name == name_of(static_cast<Operation>(i))) return static_cast<Operation>(i);
    }
    return std::nullopt;
}

Result<Arguments> shaped(Arguments arguments) {
    const double n = arguments.numbers["-n"];
    const double root = arguments.numbers["-root"];
    if (!(n >= 1 && n <= kMostRanks) || n != static_cast<std::uint32_t>(n))
        return mistake("-n does not say how many ranks",
                       "expected a whole number from 1 to " + std::to_string(kMostRanks));
    if (!(root >= 0 && root < n) || root != static_cast<std::uint32_t>(root))
        return mistake("-root is no rank", "expected a whole number below that of -n");
    for (const auto& [flag, value] : arguments.numbers) {
        if (!(value >= 0)) return mistake(flag + " is negative", "expected 0 or more");
    }
    if (arguments.model == "postal" && arguments.numbers["-lambda"] < 1)
        return mistake("-lambda is below 1", "a message takes at least as long as its sending");
    Shape& shape = arguments.shape;
    shape.operation = arguments.operation;
    shape.n = static_cast<std::uint32_t>(n);
    shape.root = static_cast<Rank>(root);
    shape.bytes = static_cast<Bytes>(arguments.numbers["-m"]);
    if (shape.operation == Operation::kReduce || shape.operation == Operation::kCombine) {
        shape.element = 1;
        shape.commutative = true;
    }
    shape.step = 1;
    shape.circular = true;
    return arguments;
}

Result<Arguments> read(const std::vector<std::string>& words) {
    Arguments arguments;
    const auto operation = operation_of(words[0]);
    if (!operation) {
        std::string all;
        for (std::size_t i = 0; i < kOperations; ++i)
            all += std::string(" ") + name_of(static_cast<Operation>(i));
        return mistake("there is no operation \"" + words[0] + "\"", "expected one of" + all);
    }
    arguments.operation = *operation;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        const bool last = i + 1 == words.size();
        if (word == "-tree") {
            arguments.tree = true;
        } else if (word.starts_with("-") && last) {
            return mistake("\"" + word + "\" is no flag, or lacks its value", "see mpsim -h");
        } else if (word == "-svg") {
            arguments.svg = words[++i];
        } else if (word == "-model") {
            arguments.model = words[++i];
            if (arguments.model != "linear" && arguments.model != "postal" &&
                arguments.model != "loggp")
                return mistake("there is no model \"" + arguments.model + "\"",
                               "expected linear, postal or loggp");
        } else if (arguments.numbers.contains(word)) {
            const auto number = number_of(words[++i]);
            if (!number) return mistake(word + " \"" + words[i] + "\" is no number", "");
            arguments.numbers[word] = *number;
        } else if (!word.starts_with("-") && !arguments.choice) {
            Result<Choice> choice = read_choice(arguments.operation, word);
            if (!choice) {
                UserError error = choice.error();
                error.source = "mpsim";
                return error;
            }
            arguments.choice = choice.value();
        } else {
            return mistake("\"" + word + "\" is one word too many, or no flag", "see mpsim -h");
        }
    }
    return shaped(std::move(arguments));
}

MessageModel model_of(const Arguments& arguments) {
    const auto at = [&](const char* flag) { return arguments.numbers.at(flag); };
    MessageModel model = MessageModel::linear(at("-ts"), at("-tc"));
    if (arguments.model == "postal")
        model = MessageModel::postal(at("-ts"), at("-tc"), at("-lambda"));
    if (arguments.model == "loggp")
        model = MessageModel::loggp(at("-L"), at("-o"), at("-g"), at("-G"));
    model.work_per_byte = at("-tw");
    return model;
}

// What is simulated: the one asked for, or all that fit and are not too many messages to wait for.
std::vector<Choice> choices_of(const Arguments& arguments) {
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
        if (each.fits(shape, choice.parameter)) choices.push_back(choice);
    }
    return choices;
}

// An estimate, from what the root and a few other ranks send. Irregular indexes have n^2 pieces per
// rank, which is what takes their time.
double messages_of(const Choice& choice, const Generator& generate, const Shape& shape) {
    constexpr std::uint32_t kSample = 8;
    const double n = shape.n;
    if (shape.operation == Operation::kIndex && choice.algorithm->counts == nullptr)
        return n * n * n;
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

int run(const Arguments& arguments) {
    const Shape& shape = arguments.shape;
    const MessageModel model = model_of(arguments);
    const std::vector<Choice> choices = choices_of(arguments);
    if (choices.empty()) {
        std::fprintf(stderr, "mpsim: %s does not fit %u ranks, or its number is out of range\n",
                     arguments.choice->algorithm->name, shape.n);
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
    for (const Choice& choice : choices) {
        const Generator generate = choice.make(shape);
        if (messages_of(choice, generate, shape) > kMostMessages) {
            std::printf("%-20s has more messages than can be simulated\n", choice.text().c_str());
            continue;
        }
        std::vector<SimulatedMessage> messages;
        const auto keep = [&](const SimulatedMessage& message) { messages.push_back(message); };
        const Simulation result =
            draw ? simulate(shape.n, generate, model, keep) : simulate(shape.n, generate, model);
        if (!result.fault.empty()) {
            std::fprintf(stderr, "mpsim: %s: %s\n", choice.text().c_str(), result.fault.c_str());
            return 1;
        }
        if (arguments.tree) std::fputs(tree_text(shape.n, shape.root, messages).c_str(), stdout);
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
    return std::fflush(stdout) == 0 ? 0 : 1;
}

constexpr const char* kHelp =
    "usage: mpsim OPERATION [ALGORITHM[:NUMBER]] [FLAG...]\n"
    "What a collective operation costs by a model: time, C1, C2, C3. Without an algorithm: all.\n"
    "  -n RANKS (16)      up to 1048576\n"
    "  -m BYTES (1k)      of the vector, or of a block; k, m, g for powers of 1024\n"
    "  -root RANK (0)\n"
    "  -model linear      ts + m tc (the default): -ts (1), -tc (0.001), microseconds\n"
    "         postal      the same, there after lambda times that: -lambda (1)\n"
    "         loggp       -L (5), -o (1), -g (1), -G (0.001)\n"
    "  -tw TIME (0)       per byte copied or reduced\n"
    "  -tree              draw as text who hears from whom, and when\n"
    "  -svg FILE          draw all messages over time\n"
    "See mpsim(1).\n";

}  // namespace
}  // namespace poe::collectives

int main(int count, char** words) {
    using namespace poe::collectives;
    const std::vector<std::string> arguments(words + 1, words + count);
    if (arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help") {
        std::fputs(kHelp, arguments.empty() ? stderr : stdout);
        return arguments.empty() ? 2 : 0;
    }
    const auto read_arguments = read(arguments);
    if (!read_arguments) {
        std::fprintf(stderr, "%s\n", read_arguments.error().str().c_str());
        return 2;
    }
    return run(read_arguments.value());
}
