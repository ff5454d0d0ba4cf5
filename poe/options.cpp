// See options.hpp.
#include "poe/options.hpp"

namespace poe::cli {

std::string Notice::str() const {
    std::string digits = std::to_string(number);
    if (digits.size() < 3) digits.insert(0, 3 - digits.size(), '0');
    return (severity == Severity::kAttention ? "ATTENTION: 0031-" : "INFO: 0031-") + digits + "  " +
           text;
}

bool is_shown(Notice::Severity severity, int infolevel) {
    return infolevel >= (severity == Notice::Severity::kAttention ? 1 : 2);
}

}  // namespace poe::cli
