// What the user asked of pmarray. Reading it is a pure function of the arguments.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "markerarray/filter.hpp"
#include "markerarray/view.hpp"

namespace poe::markers {

struct ArrayOptions {
    enum class Request { kShow, kHelp, kVersion } request = Request::kShow;
    std::string job;     // as for choose_job(); empty: the newest, and those after it
    bool once = false;   // a table, and end
    bool json = false;   // lines of JSON
    bool lines = false;  // lines of text, also on a terminal
    Filter filter;
    std::string filter_text;
    SortBy sort = SortBy::kTask;
};

// A UserError names the word as typed and what was probably meant.
Result<ArrayOptions> read_array_options(const std::vector<std::string>& arguments);

std::string array_help_text();

}  // namespace poe::markers
