// The options of pmarray. Reading them is a pure function of the arguments.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "markerarray/filter.hpp"
#include "markerarray/view.hpp"

namespace poe::markers {

struct ArrayOptions {
    enum class Request { kShow, kHelp, kVersion } request = Request::kShow;
    std::string job;     // as for choose_job(); empty: the newest, then its successors
    bool once = false;   // print one table and exit
    bool json = false;   // lines of JSON
    bool lines = false;  // lines of text, even on a terminal
    Filter filter;
    std::string filter_text;
    SortBy sort = SortBy::kTask;
};

// A UserError quotes the word as typed and says what was probably meant.
Result<ArrayOptions> read_array_options(const std::vector<std::string>& arguments);

std::string array_help_text();

}  // namespace poe::markers
