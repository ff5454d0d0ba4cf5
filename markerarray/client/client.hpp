// MarkerClient: the writing side of the marker array, used in tasks and in mpmark. It finds this
// task's row in the node segment from the variables that poe has set, and writes to it. It is
// separate from the C interface so that our own programs can use it too.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/segment/node_segment.hpp"

namespace poe::markers {

// Returns the part of a text that is kept: at most 80 characters and 240 bytes, whole characters.
std::string_view kept_text(std::string_view text) noexcept;

// Several threads may call the member functions at once. None blocks or makes a system call.
class MarkerClient {
  public:
    // Returns the value of an environment variable, or null.
    using Variables = std::function<const char*(const char*)>;

    // Maps the segment. Never throws. Outside a job of poe there is no row, and markers have no
    // effect. If the row should exist but cannot be reached, failure() has the reason.
    explicit MarkerClient(const Variables& variables);

    // Sets the colour of a light (0..lights()-1 from the left) and the text of the row. If the
    // light or colour is out of range, no light changes. Without a text the text stays; an empty
    // text clears it.
    void mark(int light, int color, std::optional<std::string_view> text) const noexcept {
        if (row_ == nullptr) return;
        if (light >= 0 && light < lights_ && color >= 0 && color < kMarkerColors)
            row_->set_light(static_cast<std::size_t>(light), static_cast<std::uint8_t>(color));
        if (text && lights_ > 0) row_->set_text(kept_text(*text));
    }

    // Shows progress: `done` of `total` units. A total of 0 or less removes the display.
    void progress(std::int64_t done, std::int64_t total) const noexcept;

    // Lights per row (MP_PMLIGHTS), 0..100; 100 if not set. With 0, markers have no effect.
    int lights() const noexcept { return lights_; }

    const std::string& failure() const noexcept { return failure_; }

  private:
    std::string failure_;
    std::optional<NodeSegment> segment_;
    MarkerRow* row_ = nullptr;
    int lights_ = kMaxLights;
};

// The client of this process. Created by the first call from the environment; never destroyed,
// because other threads and exit handlers may still call.
const MarkerClient& the_marker_client();

}  // namespace poe::markers
