// See algorithm.hpp.
#include "collectives/schedule/algorithm.hpp"

#include <cmath>

namespace poe::collectives {
namespace {

// Removes trailing zeros.
std::string number_text(double number) {
    std::string text = std::to_string(number);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

}  // namespace

bool NumberRange::has(double number) const noexcept {
    return number >= least && number <= most && (!whole || number == std::floor(number));
}

std::string NumberRange::text() const {
    return std::string(whole ? "a whole number" : "a number") + " from " + number_text(least) +
           " to " + number_text(most);
}

std::string Choice::text() const {
    if (algorithm->parameter == nullptr) return algorithm->name;
    return std::string(algorithm->name) + ":" + number_text(parameter);
}

}  // namespace poe::collectives
