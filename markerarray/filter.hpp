// Filter: selects the tasks that are shown. The user types words, all of which must match.
//
//   state=waiting   state=computing,failed   node=n3   rank=0-63,70   any text
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "markerarray/snapshot.hpp"

namespace poe::markers {

class Filter {
  public:
    Filter() = default;  // matches every task
    static Result<Filter> parse(std::string_view text);

    bool empty() const {
        return states_.empty() && nodes_.empty() && ranks_.empty() && words_.empty();
    }
    bool passes(const TaskRow& row, const JobFacts& job) const;

  private:
    struct Range {
        TaskId first;
        TaskId last;
    };

    std::vector<Activity> states_;
    std::vector<std::string> nodes_;
    std::vector<Range> ranks_;
    std::vector<std::string> words_;
};

// True if `text` occurs in the words that a row shows. A lower-case letter also matches its
// upper-case form.
bool row_contains(const TaskRow& row, std::string_view text);

}  // namespace poe::markers
