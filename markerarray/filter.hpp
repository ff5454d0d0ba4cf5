// Filter: which tasks are shown, as typed: words of which all must hold.
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
    Filter() = default;  // lets everything pass
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

// Whether the text occurs in what a row shows in words. Small letters stand for large ones, too.
bool row_contains(const TaskRow& row, std::string_view text);

}  // namespace poe::markers
