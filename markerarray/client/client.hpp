// MarkerClient: the writing side of the marker array, in the tasks and in mpmark. Finds the row of
// this task in the node segment by the variables that poe has set, and writes there. Apart from the
// C interface so that programs of ours use the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/segment/node_segment.hpp"

namespace poe::markers {

// What is kept of a text of any length: its beginning, whole characters.
std::string_view kept_text(std::string_view text) noexcept;

// Every member may be called by several threads at once. No member waits or makes a system call.
class MarkerClient {
  public:
    // The value of an environment variable, or null.
    using Variables = std::function<const char*(const char*)>;

    // Maps the segment. Never throws: outside of a job of poe there is no row, and markers go
    // nowhere; when there should be one and it cannot be reached, failure() says why.
    explicit MarkerClient(const Variables& variables);

    // Colours a light (0..lights()-1 from the left) and sets the text of the row. A light or colour
    // out of range leaves the lights alone; no text leaves the text alone, an empty one clears it.
    void mark(int light, int color, std::optional<std::string_view> text) const noexcept {
        if (row_ == nullptr) return;
        if (light >= 0 && light < lights_ && color >= 0 && color < kMarkerColors)
            row_->set_light(static_cast<std::size_t>(light), static_cast<std::uint8_t>(color));
        if (text && lights_ > 0) row_->set_text(kept_text(*text));
    }

    // `done` of `total` things; a total of 0 or less takes the progress away.
    void progress(std::int64_t done, std::int64_t total) const noexcept;

    // MP_PMLIGHTS: lights of a row, 0..100. Without it 100; with 0 markers go nowhere.
    int lights() const noexcept { return lights_; }

    const std::string& failure() const noexcept { return failure_; }

  private:
    std::string failure_;
    std::optional<NodeSegment> segment_;
    MarkerRow* row_ = nullptr;
    int lights_ = kMaxLights;
};

}  // namespace poe::markers
