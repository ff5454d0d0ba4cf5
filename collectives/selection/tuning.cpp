// Reads and writes the text of tuning files; see tuning.hpp.
#include "collectives/selection/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/parse.hpp"
#include "collectives/selection/method.hpp"

namespace poe::collectives {
namespace {

struct Fact {
    const char* name;
    double CostModel::*place;
};
constexpr Fact kFacts[] = {
    {"start_up", &CostModel::start_up},   {"per_byte", &CostModel::transfer},
    {"message", &CostModel::message},     {"load", &CostModel::load},
    {"multicast", &CostModel::multicast}, {"multicast_per_byte", &CostModel::multicast_byte}};
constexpr double kMostPorts = 1024;

struct Level {
    const char* name;
    CostModel Tuning::*place;
};
constexpr Level kLevels[] = {{"node", &Tuning::node}, {"network", &Tuning::network}};
std::vector<std::string_view> words_of(std::string_view line) {
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    constexpr std::string_view kBlank = " \t\r";
    for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(kBlank, end);
    }
    return words;
}

// Replaces control characters, so that the text can be written to a terminal.
std::string quoted(std::string_view text) {
    std::string shown(text.substr(0, 60));
    const auto no_text = [](unsigned char c) { return c < ' ' || c == 0x7f; };
    std::replace_if(shown.begin(), shown.end(), no_text, '?');
    return "\"" + shown + "\"";
}

class Reader {
  public:
    Reader(const std::string& source, unsigned cores)
        : source_(source), tuning_(built_in_tuning(cores)) {}

    // Returns an error, or nothing.
    std::optional<UserError> line(int number, std::string_view text) {
        number_ = number;
        const std::vector<std::string_view> words = words_of(text);
        if (words.empty()) return std::nullopt;
        if (words[0] == "level") return level(words);
        if (model_ == nullptr)
            return mistake(quoted(words[0]) + " stands before any level",
                           "begin with \"level node\" or \"level network\"");
        if (words[0] == "lambda") return lambda(words);
        if (words[0] == "best") return best(words);
        if (words[0] == "ports") return ports(words);
        for (const Fact& fact : kFacts) {
            if (words[0] != fact.name) continue;
            const auto value = words.size() == 2 ? parse_number<double>(words[1]) : std::nullopt;
            if (!value || *value < 0)
                return mistake(rest(words),
                               "expected one number, 0 or more, after " + std::string(fact.name));
            model_->*fact.place = *value;
            return std::nullopt;
        }
        return mistake(quoted(words[0]) + " is not known",
                       "expected level, start_up, per_byte, message, load, multicast, "
                       "multicast_per_byte, ports, lambda or best");
    }

    Tuning take() {
        for (const Level& each : kLevels) {
            auto& lambdas = (tuning_.*each.place).lambdas;
            std::sort(lambdas.begin(), lambdas.end(),
                      [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
        }
        return tuning_;
    }

  private:
    std::optional<UserError> level(const std::vector<std::string_view>& words) {
        for (const Level& each : kLevels) {
            if (words.size() != 2 || words[1] != each.name) continue;
            model_ = &(tuning_.*each.place);
            model_->lambdas.clear();
            model_->bests.clear();
            return std::nullopt;
        }
        return mistake(rest(words), "expected \"level node\" or \"level network\"");
    }
    std::optional<UserError> lambda(const std::vector<std::string_view>& words) {
        const auto bytes = words.size() == 3 ? parse_number<double>(words[1]) : std::nullopt;
        const auto value = words.size() == 3 ? parse_number<double>(words[2]) : std::nullopt;
        if (!bytes || !value || *bytes < 0 || *bytes > 1e15 || *value < 1 || *value > 1000)
            return mistake(rest(words),
                           "expected a length in bytes and a number from 1 to 1000 after lambda");
        model_->lambdas.push_back({static_cast<Bytes>(*bytes), *value});
        return std::nullopt;
    }
    std::optional<UserError> ports(const std::vector<std::string_view>& words) {
        const auto value = words.size() == 2 ? parse_number<double>(words[1]) : std::nullopt;
        if (!value || *value < 1 || *value > kMostPorts || *value != std::floor(*value))
            return mistake(rest(words), "expected a whole number from 1 to 1024 after ports");
        model_->ports = *value;
        return std::nullopt;
    }
    std::optional<UserError> best(const std::vector<std::string_view>& words) {
        const auto expected = [&] {
            return mistake(
                rest(words),
                "expected an operation, a length in bytes, a number of tasks and what is "
                "best for that, as in \"best bcast 65536 4 binomial\"");
        };
        if (words.size() != 5) return expected();
        const Result<Operation> operation = read_operation(words[1]);
        if (!operation) return expected();
        const double bytes = parse_number<double>(words[2]).value_or(-1);
        const double n = parse_number<double>(words[3]).value_or(-1);
        if (bytes < 0 || bytes > 1e15 || n < 2 || n > 1e6) return expected();
        const Result<Method> read = read_method(operation.value(), words[4]);
        if (!read) return mistake(read.error().text, read.error().expected);
        Method method = read.value();
        if (method.transport == Transport::kMessages) {
            Choice& choice = method.choice;
            if (choice.parameter < 0 && choice.algorithm->parameter != nullptr)
                return mistake(rest(words), std::string("expected a number after the name: ") +
                                                choice.algorithm->parameter);
            choice.parameter = std::max(choice.parameter, 0.0);
        }
        model_->bests.push_back(
            {operation.value(), static_cast<Bytes>(bytes), static_cast<std::uint32_t>(n), method});
        return std::nullopt;
    }
    static std::string rest(const std::vector<std::string_view>& words) {
        const char* start = words.front().data();
        const char* end = words.back().data() + words.back().size();
        return quoted({start, static_cast<std::size_t>(end - start)}) + " is not allowed";
    }
    UserError mistake(std::string text, std::string expected) const {
        UserError error;
        error.source = source_;
        error.line = number_;
        error.text = std::move(text);
        error.expected = std::move(expected);
        return error;
    }

    const std::string& source_;
    Tuning tuning_;
    CostModel* model_ = nullptr;
    int number_ = 0;
};

std::string five_digits(double number) {
    char text[40];
    std::snprintf(text, sizeof text, "%.5g", number);
    return text;
}

}  // namespace

Result<Tuning> read_tuning(std::string_view text, const std::string& source, unsigned cores) {
    Reader reader(source, cores);
    int number = 1;
    for (std::size_t at = 0; at < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (const auto error = reader.line(number, text.substr(at, end - at))) return *error;
        at = end + 1;
    }
    return reader.take();
}

std::string tuning_text(const Tuning& tuning, std::string_view head) {
    std::string text;
    for (std::size_t at = 0; at < head.size();) {
        const std::size_t end = std::min(head.find('\n', at), head.size());
        text += "# " + std::string(head.substr(at, end - at)) + "\n";
        at = end + 1;
    }
    for (const Level& each : kLevels) {
        const CostModel& model = tuning.*each.place;
        text += std::string("level ") + each.name + "\n";
        for (const Fact& fact : kFacts) {
            const bool of_multicast =
                fact.place == &CostModel::multicast || fact.place == &CostModel::multicast_byte;
            if (of_multicast && model.multicast_byte == 0) continue;
            text += std::string(fact.name) + " " + five_digits(model.*fact.place) + "\n";
        }
        if (model.ports != 1) text += "ports " + five_digits(model.ports) + "\n";
        for (const MeasuredLambda& at : model.lambdas)
            text += "lambda " + std::to_string(at.bytes) + " " + five_digits(at.lambda) + "\n";
        for (const MeasuredBest& best : model.bests)
            text += std::string("best ") + name_of(best.operation) + " " +
                    std::to_string(best.bytes) + " " + std::to_string(best.n) + " " +
                    best.method.text() + "\n";
    }
    return text;
}

}  // namespace poe::collectives
