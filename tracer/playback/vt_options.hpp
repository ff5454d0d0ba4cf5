// The options of vt. Reading them is a pure function of the arguments.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "terminal/grid.hpp"
#include "tracer/exchange/export.hpp"
#include "tracer/playback/view_state.hpp"

namespace poe::trace {

struct VtOptions {
    enum class Request {
        kPlay,
        kSummary,
        kDiff,
        kView,
        kExport,
        kMerge,
        kPlan,
        kHelp,
        kShowVersion
    };
    Request request = Request::kPlay;
    std::vector<std::string> traces;  // one; two for kDiff
    bool json = false;
    ViewKind view = ViewKind::kTimeline;
    ExportFormat format = ExportFormat::kCsv;
    std::string output;        // a file; empty: standard output
    std::string from, to, at;  // moments as typed, see read_time(); empty: begin, end, end
    std::optional<std::set<TaskId>> tasks;
    std::optional<State> state;  // of the samples in the flame view
    std::string phase;           // likewise: a region of the program
    bool asleep = false;         // likewise: threads that sleep
    bool repair = true;          // repair clocks
    bool lines = false;          // draw messages in the time line
    // The size of a view that is written: columns and lines of text, or a figure of about that
    // size. Empty: 100 x 30 for text; for a figure, as high as its content.
    std::optional<terminal::Size> size;
};

// A UserError quotes the word as typed and says what was probably meant.
Result<VtOptions> read_vt_options(const std::vector<std::string>& arguments);

std::string vt_help_text();

}  // namespace poe::trace
