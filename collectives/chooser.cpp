// Choosing algorithms; see chooser.hpp.
#include "collectives/chooser.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "comm/base/check.hpp"

namespace poe::collectives {
namespace {

constexpr double kMostSegments = 256;

// Numbers worth trying besides the usual one.
std::vector<double> numbers(const Algorithm& algorithm, const Shape& shape) {
    std::vector<double> all{algorithm.fallback(shape)};
    if (algorithm.parameter == nullptr) return all;
    if (shape.operation == Operation::kIndex && std::string_view(algorithm.name) == "radix")
        all = {2, 4, all[0], std::max<double>(2, shape.n)};
    if (std::string_view(algorithm.parameter) == "segments") {
        for (double many = 1; many <= kMostSegments && many <= static_cast<double>(shape.bytes);
             many *= 2)
            all.push_back(many);
    }
    return all;
}

}  // namespace

double predicted(const CostModel& model, const Counts& counts) noexcept {
    return static_cast<double>(counts.c1) * model.start_up +
           static_cast<double>(counts.c2) * model.transfer +
           static_cast<double>(counts.c3) * model.load;
}

Result<Choice> read_choice(Operation operation, std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    UserError error;
    error.text = "\"" + std::string(text) + "\" is not allowed";
    const Algorithm* algorithm = find_algorithm(operation, name);
    if (algorithm == nullptr) {
        error.expected =
            std::string("expected one of the algorithms for ") + name_of(operation) + ":";
        for (const Algorithm& each : catalogue()) {
            if (each.operation == operation) error.expected += std::string(" ") + each.name;
        }
        return error;
    }
    Choice choice{algorithm, -1};
    if (colon == std::string_view::npos) return choice;
    const std::string_view number = text.substr(colon + 1);
    const auto [stop, fault] =
        std::from_chars(number.data(), number.data() + number.size(), choice.parameter);
    if (algorithm->parameter == nullptr || fault != std::errc{} ||
        stop != number.data() + number.size() || choice.parameter < 0) {
        error.expected = algorithm->parameter == nullptr ? std::string(name) + " takes no number"
                                                         : "expected a number behind the colon: " +
                                                               std::string(algorithm->parameter);
        return error;
    }
    return choice;
}

Result<Overrides> read_overrides(const std::function<const char*(const char*)>& variables) {
    Overrides overrides;
    for (std::size_t i = 0; i < kOperations; ++i) {
        std::string name = std::string("MP_COLL_") + name_of(static_cast<Operation>(i));
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) {
            return static_cast<char>(std::toupper(letter));
        });
        const char* text = variables(name.c_str());
        if (text == nullptr || *text == '\0') continue;
        const Result<Choice> choice = read_choice(static_cast<Operation>(i), text);
        if (!choice) {
            UserError error = choice.error();
            error.source = name;
            return error;
        }
        overrides[i] = choice.value();
    }
    return overrides;
}

Choice choose(const Shape& shape, const CostModel& model, const Overrides& overrides) {
    const auto& wanted = overrides[static_cast<std::size_t>(shape.operation)];
    if (wanted) {
        Choice choice = *wanted;
        if (choice.parameter < 0) choice.parameter = choice.algorithm->fallback(shape);
        if (choice.algorithm->fits(shape, choice.parameter)) return choice;
    }
    Choice best;
    double least = 0;
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.operation != shape.operation || algorithm.counts == nullptr) continue;
        for (const double number : numbers(algorithm, shape)) {
            if (!algorithm.fits(shape, number)) continue;
            const double time = predicted(model, algorithm.counts(shape, number));
            if (best.algorithm != nullptr && time >= least) continue;
            best = {&algorithm, number};
            least = time;
        }
    }
    POE_CHECK(best.algorithm != nullptr, name_of(shape.operation), shape.n, shape.bytes);
    return best;
}

}  // namespace poe::collectives
