// See postal_text.hpp.
#include "collectives/mptune/postal_text.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "collectives/schedule/postal.hpp"

namespace poe::collectives {
namespace {

constexpr int kLambdas = 10;  // of the paper's tables

[[gnu::format(printf, 2, 3)]] void add(std::string& text, const char* format, ...) {
    char line[200];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text += line;
}

}  // namespace

std::string postal_tables_text() {
    std::string text = "lambda   growth   break-even of a global combine\n";
    for (int lambda = 1; lambda <= kLambdas; ++lambda) {
        add(text, "%6d %8.3f", lambda, growth(lambda));
        if (lambda < kLambdas) add(text, " %12.3f", break_even(lambda));
        text += "\n";
    }
    return text;
}

std::string alpha_text(const std::vector<AlphaRow>& rows) {
    std::string text = " alpha  predicted us   measured us\n";
    const auto least = [&](double AlphaRow::*column) {
        double value = rows.empty() ? 0 : rows.front().*column;
        for (const AlphaRow& row : rows) value = std::min(value, row.*column);
        return value;
    };
    const double predicted = least(&AlphaRow::predicted);
    const double measured = least(&AlphaRow::measured);
    for (const AlphaRow& row : rows)
        add(text, "%6.2f %12.2f%c %12.2f%c\n", row.alpha, row.predicted,
            row.predicted == predicted ? '*' : ' ', row.measured,
            row.measured == measured ? '*' : ' ');
    return text + "*  the least of the column\n";
}

}  // namespace poe::collectives
