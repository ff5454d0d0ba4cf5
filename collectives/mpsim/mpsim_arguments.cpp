// Reads the arguments; see mpsim_arguments.hpp.
#include "collectives/mpsim/mpsim_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "base/parse.hpp"
#include "collectives/selection/method.hpp"

namespace poe::collectives {
namespace {

constexpr std::uint32_t kMostRanks = 1u << 20;
constexpr double kMostBytes = 1024.0 * 1024 * 1024 * 1024;
constexpr double kMostTime = 1e12;  // microseconds
constexpr double kMostPorts = 1024;
constexpr double kMostLambda = 1000;  // the maximum for which lambda trees are made

std::optional<double> number_of(std::string_view text) {
    const auto parsed = take_number<double>(text);
    if (!parsed) return std::nullopt;
    double number = *parsed;
    const std::string_view unit = text;
    if (unit == "k" || unit == "K") {
        number *= 1024;
    } else if (unit == "m" || unit == "M") {
        number *= 1024 * 1024;
    } else if (unit == "g" || unit == "G") {
        number *= 1024 * 1024 * 1024;
    } else if (!unit.empty()) {
        return std::nullopt;
    }
    if (!std::isfinite(number)) return std::nullopt;
    return number;
}

UserError mistake(std::string text, std::string expected) {
    UserError error;
    error.source = "mpsim";
    error.text = std::move(text);
    error.expected = std::move(expected);
    return error;
}

std::optional<std::uint32_t> whole_number(std::string_view text) {
    const auto number = number_of(text);
    if (!number || !(*number >= 1 && *number <= kMostRanks) || *number != std::floor(*number))
        return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

// Reads "4", the number of nodes among which the ranks of -n are divided, or "4x16", 4 nodes with
// 16 ranks each.
std::optional<UserError> place_on_nodes(SimulatorArguments& arguments, bool ranks_given) {
    const std::string_view text = arguments.nodes;
    const std::size_t cross = text.find('x');
    const auto many = whole_number(text.substr(0, cross));
    Shape& shape = arguments.shape;
    if (cross != std::string_view::npos) {
        const auto each = whole_number(text.substr(cross + 1));
        const std::uint64_t ranks = std::uint64_t{many.value_or(0)} * each.value_or(0);
        if (ranks == 0 || ranks > kMostRanks || (ranks_given && ranks != shape.n))
            return mistake("-nodes \"" + arguments.nodes + "\" is not allowed",
                           "expected nodes and ranks of each, as in 4x16; -n follows from that");
        shape.n = static_cast<std::uint32_t>(ranks);
    }
    if (!many || *many > shape.n)
        return mistake("-nodes \"" + arguments.nodes + "\" is not allowed",
                       "expected a number of nodes, at most as many as ranks, or as in 4x16");
    for (std::uint64_t rank = 0; *many > 1 && rank < shape.n; ++rank)
        shape.nodes.push_back(
            static_cast<std::uint32_t>(arguments.turns ? rank % *many : rank * *many / shape.n));
    // All ranks are on one node: no message goes between nodes, and all cost what they cost within
    // one.
    if (*many == 1) arguments.one_node = true;
    return std::nullopt;
}

// Reads "8x8", rows and columns, which determine the number of ranks.
std::optional<UserError> place_on_mesh(SimulatorArguments& arguments, bool ranks_given,
                                       bool shuffled) {
    const std::string_view text = arguments.mesh;
    const std::size_t cross = text.find('x');
    const auto rows = whole_number(text.substr(0, cross));
    const auto columns = whole_number(cross == text.npos ? text : text.substr(cross + 1));
    const std::uint64_t ranks = std::uint64_t{rows.value_or(0)} * columns.value_or(0);
    Shape& shape = arguments.shape;
    if (cross == text.npos || ranks == 0 || ranks > kMostRanks || (ranks_given && ranks != shape.n))
        return mistake("-mesh \"" + arguments.mesh + "\" is not allowed",
                       "expected rows and columns, as in 8x8; -n follows from that");
    if (!arguments.nodes.empty() || arguments.numbers["-cores"] > 0)
        return mistake("-mesh cannot be used with -nodes or -cores",
                       "each rank has a node of the mesh for itself");
    shape.n = static_cast<std::uint32_t>(ranks);
    const double seed = arguments.numbers["-shuffle"];
    if (seed > kMostRanks || seed != std::floor(seed))
        return mistake("-shuffle is no seed", "expected a whole number up to 1048576");
    arguments.placed = shuffled ? mesh_at_random(*rows, *columns, static_cast<std::uint32_t>(seed))
                                : mesh_in_order(*rows, *columns);
    return std::nullopt;
}

std::optional<UserError> read_lengths(SimulatorArguments& arguments) {
    Shape& shape = arguments.shape;
    if (shape.operation != Operation::kIndex)
        return mistake("-lengths is for index", "other operations have blocks of -m bytes");
    std::ifstream file(arguments.lengths);
    if (!file) return mistake("cannot read " + arguments.lengths, "");
    const std::size_t wanted = std::size_t{shape.n} * shape.n;
    Bytes sum = 0;
    for (Bytes bytes = 0; shape.matrix.size() <= wanted && file >> bytes;) {
        shape.matrix.push_back(bytes);
        sum += bytes;
    }
    if (!file.eof() || shape.matrix.size() != wanted)
        return mistake(arguments.lengths + " does not hold " + std::to_string(wanted) + " lengths",
                       "expected for each rank a line with the bytes that it sends to each");
    shape.bytes = sum / wanted;
    shape.whole_matrix = true;
    return std::nullopt;
}

// Refuses a number that the model does not use, because it would have no effect.
std::optional<UserError> find_idle_number(const SimulatorArguments& arguments,
                                          const std::set<std::string>& given) {
    struct Owner {
        const char* model;
        std::vector<const char*> flags;
    };
    static const Owner owners[] = {{"linear", {"-ts", "-tc"}},
                                   {"postal", {"-ts", "-tc", "-lambda"}},
                                   {"loggp", {"-L", "-o", "-g", "-G"}}};
    const auto has = [](const Owner& owner, const std::string& flag) {
        return std::find(owner.flags.begin(), owner.flags.end(), flag) != owner.flags.end();
    };
    for (const std::string& flag : given) {
        std::string models;
        bool used = false;
        for (const Owner& owner : owners) {
            if (!has(owner, flag)) continue;
            models += (models.empty() ? "" : " or ") + std::string(owner.model);
            used |= arguments.model == owner.model;
        }
        if (!models.empty() && !used)
            return mistake(flag + " is no number of the model " + arguments.model,
                           "say -model " + models);
    }
    return std::nullopt;
}

Result<SimulatorArguments> shaped(SimulatorArguments arguments,
                                  const std::set<std::string>& given) {
    const bool ranks_given = given.contains("-n");
    for (const auto& [flag, value] : arguments.numbers) {
        if (value < 0) return mistake(flag + " is negative", "expected 0 or more");
        if (flag != "-m" && value > kMostTime)
            return mistake(flag + " is too large", "expected at most 1e12");
    }
    const double n = arguments.numbers["-n"];
    if (!(n >= 1 && n <= kMostRanks) || n != std::floor(n))
        return mistake("-n does not say how many ranks",
                       "expected a whole number from 1 to " + std::to_string(kMostRanks));
    const double cores = arguments.numbers["-cores"];
    if (cores > kMostRanks || cores != std::floor(cores))
        return mistake("-cores does not say how many cores",
                       "expected a whole number up to " + std::to_string(kMostRanks));
    const double bytes = arguments.numbers["-m"];
    if (bytes > kMostBytes || bytes != std::floor(bytes))
        return mistake("-m does not say how many bytes", "expected a whole number up to 1024g");
    const double lambda = arguments.numbers["-lambda"];
    if (lambda < 1)
        return mistake("-lambda is below 1", "a message takes at least as long as its sending");
    if (lambda > kMostLambda) return mistake("-lambda is too large", "expected at most 1000");
    Shape& shape = arguments.shape;
    shape.operation = arguments.operation;
    shape.n = static_cast<std::uint32_t>(n);
    shape.bytes = static_cast<Bytes>(bytes);
    if (!arguments.nodes.empty()) {
        if (auto wrong = place_on_nodes(arguments, ranks_given)) return *wrong;
    } else if (arguments.turns) {
        return mistake("-turns is without nodes", "say how many with -nodes");
    }
    if (!arguments.mesh.empty()) {
        if (auto wrong = place_on_mesh(arguments, ranks_given, given.contains("-shuffle")))
            return *wrong;
    } else if (given.contains("-shuffle")) {
        return mistake("-shuffle is without a mesh", "say which with -mesh");
    }
    const double ports = arguments.numbers["-ports"];
    if (!(ports >= 1 && ports <= kMostPorts) || ports != std::floor(ports))
        return mistake("-ports does not say how many ports", "expected a whole number up to 1024");
    if (ports > 1 && (!arguments.nodes.empty() || !arguments.mesh.empty() || cores > 0))
        return mistake("-ports cannot be used with -nodes, -mesh or -cores",
                       "several ports belong to ranks that share nothing");
    const double root = arguments.numbers["-root"];
    if (!(root >= 0 && root < shape.n) || root != std::floor(root))
        return mistake("-root is no rank", "expected a whole number below that of -n");
    shape.root = static_cast<Rank>(root);
    if (shape.operation == Operation::kReduce || shape.operation == Operation::kCombine) {
        shape.element = 1;
        shape.commutative = true;
        shape.exact = true;
    }
    shape.step = 1;
    shape.circular = true;
    if (!arguments.lengths.empty()) {
        if (auto wrong = read_lengths(arguments)) return *wrong;
    }
    return arguments;
}

// "-plan FILE" and the numbers of the model.
Result<SimulatorArguments> planned_arguments(const std::vector<std::string>& words) {
    SimulatorArguments arguments;
    if (words.size() < 2) return mistake("-plan needs a file", "as in mpsim -plan prog.plan");
    std::set<std::string> given;
    for (std::size_t i = 2; i < words.size(); i += 2) {
        const std::string& word = words[i];
        const bool last = i + 1 == words.size();
        const bool model = word == "-model";
        const bool number = word == "-ts" || word == "-tc" || word == "-lambda" || word == "-L" ||
                            word == "-o" || word == "-g" || word == "-G" || word == "-tw" ||
                            word == "-tp";
        if (last || (!model && !number))
            return mistake("\"" + word + "\" cannot be used with -plan, or lacks its value",
                           "-plan takes -model and its numbers, -tw and -tp");
        const std::string& value = words[i + 1];
        if (model) {
            arguments.model = value;
            if (value != "linear" && value != "postal" && value != "loggp")
                return mistake("there is no model \"" + value + "\"",
                               "expected linear, postal or loggp");
            continue;
        }
        const auto read = number_of(value);
        if (!read || *read < 0 || *read > kMostTime || (word == "-lambda" && *read < 1))
            return mistake(word + " \"" + value + "\" is not allowed", "");
        arguments.numbers[word] = *read;
        given.insert(word);
    }
    if (auto idle = find_idle_number(arguments, given)) return *idle;
    std::ifstream file(words[1]);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) return mistake("cannot read " + words[1], "vt -plan makes a plan from a trace");
    auto read = read_plan(text, words[1]);
    if (!read) return read.error();
    arguments.planned = std::move(read.value());
    arguments.has_plan = true;
    return arguments;
}

}  // namespace

Result<SimulatorArguments> read_simulator_arguments(const std::vector<std::string>& words) {
    SimulatorArguments arguments;
    std::set<std::string> given;
    if (words[0] == "-plan") return planned_arguments(words);
    const Result<Operation> operation = read_operation(words[0]);
    if (!operation) return operation.error();
    arguments.operation = operation.value();
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        const bool last = i + 1 == words.size();
        if (word == "-tree") {
            arguments.tree = true;
        } else if (word == "-turns") {
            arguments.turns = true;
        } else if (word.starts_with("-") && last) {
            return mistake("\"" + word + "\" is no flag, or lacks its value", "see mpsim -h");
        } else if (word == "-svg") {
            arguments.svg = words[++i];
        } else if (word == "-nodes") {
            arguments.nodes = words[++i];
        } else if (word == "-mesh") {
            arguments.mesh = words[++i];
        } else if (word == "-lengths") {
            arguments.lengths = words[++i];
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
            given.insert(word);
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
    if (arguments.numbers["-tt"] > 0 && arguments.numbers["-cores"] == 0)
        return mistake("-tt is about cores that ranks share", "say how many, with -cores");
    if ((given.contains("-nts") || given.contains("-ntc")) && arguments.nodes.empty())
        return mistake("-nts and -ntc are about nodes that ranks share",
                       "say how many, with -nodes");
    if (auto idle = find_idle_number(arguments, given)) return *idle;
    return shaped(std::move(arguments), given);
}

MessageModel SimulatorArguments::message_model() const {
    const auto at = [&](const char* flag) { return numbers.at(flag); };
    MessageModel made = MessageModel::linear(at("-ts"), at("-tc"));
    if (model == "postal") made = MessageModel::postal(at("-ts"), at("-tc"), at("-lambda"));
    if (model == "loggp") made = MessageModel::loggp(at("-L"), at("-o"), at("-g"), at("-G"));
    if (one_node) made = MessageModel::linear(at("-nts"), at("-ntc"));
    made.work_per_byte = at("-tw");
    made.work_per_piece = at("-tp");
    made.ports = static_cast<std::uint32_t>(at("-ports"));
    return made;
}

SimulatedNodes SimulatorArguments::simulated_nodes() const {
    return {shape.nodes, MessageModel::linear(numbers.at("-nts"), numbers.at("-ntc"))};
}

SimulatedCores SimulatorArguments::simulated_cores() const {
    return {static_cast<std::uint32_t>(numbers.at("-cores")), numbers.at("-tt")};
}

}  // namespace poe::collectives
