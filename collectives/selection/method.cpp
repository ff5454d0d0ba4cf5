// Reads and writes the names of algorithms and transports; see method.hpp.
#include "collectives/selection/method.hpp"

#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "base/suggest.hpp"
#include "collectives/selection/catalogue.hpp"
#include "collectives/selection/multicast_cost.hpp"

namespace poe::collectives {

Result<Operation> read_operation(std::string_view name) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < kOperations; ++i) {
        names.emplace_back(name_of(static_cast<Operation>(i)));
        if (name == names.back()) return static_cast<Operation>(i);
    }
    UserError error;
    error.text = "there is no operation " + in_quotes(name);
    error.expected = "expected one of";
    for (const std::string_view each : names) error.expected += " " + std::string(each);
    error.expected += did_you_mean(name, names);
    return error;
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
        std::vector<std::string_view> names;
        for (const Algorithm& each : catalogue())
            if (each.operation == operation) names.emplace_back(each.name);
        for (const std::string_view each : names) error.expected += " " + std::string(each);
        error.expected += did_you_mean(name, names);
        return error;
    }
    Choice choice{algorithm, -1};
    if (colon == std::string_view::npos) return choice;
    const std::string_view number = text.substr(colon + 1);
    const auto [stop, fault] =
        std::from_chars(number.data(), number.data() + number.size(), choice.parameter);
    if (algorithm->parameter == nullptr || fault != std::errc{} ||
        stop != number.data() + number.size() || !algorithm->numbers.has(choice.parameter)) {
        error.expected = algorithm->parameter == nullptr
                             ? std::string(name) + " takes no number"
                             : "expected " + algorithm->numbers.text() +
                                   " after the colon: " + algorithm->parameter;
        return error;
    }
    return choice;
}

Result<Method> read_method(Operation operation, std::string_view text) {
    if (text == kSharedMemoryName) return Method{Transport::kShared, {}};
    if (text == kDirectMemoryName) return Method{Transport::kDirect, {}};
    const bool may_multicast = has_multicast(operation);
    if (may_multicast && text == kMulticastName) return Method{Transport::kMulticast, {}};
    const Result<Choice> choice = read_choice(operation, text);
    if (choice) return Method{Transport::kMessages, choice.value()};
    UserError error = choice.error();
    if (text.find(':') == std::string_view::npos)
        error.expected +=
            std::string("; or, within a node, ") + kSharedMemoryName + " or " + kDirectMemoryName +
            (may_multicast ? std::string("; or, between nodes, ") + kMulticastName : "");
    return error;
}

// The values of variables may also be written in capitals.
Result<Overrides> read_overrides(const std::function<const char*(const char*)>& variables) {
    const auto in_case = [](std::string text, int (*of)(int)) {
        for (char& letter : text)
            letter = static_cast<char>(of(static_cast<unsigned char>(letter)));
        return text;
    };
    Overrides overrides;
    for (std::size_t i = 0; i < kOperations; ++i) {
        const std::string name =
            "MP_COLL_" + in_case(name_of(static_cast<Operation>(i)), std::toupper);
        const char* text = variables(name.c_str());
        if (text == nullptr || *text == '\0') continue;
        const Result<Method> method =
            read_method(static_cast<Operation>(i), in_case(text, std::tolower));
        if (!method) {
            UserError error = method.error();
            error.source = name;
            return error;
        }
        overrides[i] = method.value();
    }
    return overrides;
}

}  // namespace poe::collectives
