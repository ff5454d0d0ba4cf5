// What the user asked of vt. Reading it is a pure function of the arguments.
#pragma once

#include <string>
#include <vector>

#include "comm/base/result.hpp"

namespace poe::trace {

struct VtOptions {
    enum class Request { kPlay, kSummary, kDiff, kHelp, kShowVersion };
    Request request = Request::kPlay;
    std::vector<std::string> traces;  // one; two for kDiff
    bool json = false;
};

// A UserError names the word as typed and what was probably meant.
Result<VtOptions> read_vt_options(const std::vector<std::string>& arguments);

std::string vt_help_text();

}  // namespace poe::trace
