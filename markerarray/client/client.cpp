// Implementation of client.hpp.
#include "markerarray/client/client.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/parse.hpp"

namespace poe::markers {
namespace {

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u;
}

// Parses a text that consists of one number; empty for any other text.
std::optional<int> number_in(const char* text) {
    return text == nullptr ? std::nullopt : parse_number<int>(text);
}

}  // namespace

std::string_view kept_text(std::string_view text) noexcept {
    if (text.size() <= kMarkerColumns) return text;
    std::size_t end = 0;
    std::size_t characters = 0;
    for (std::size_t at = 0; at <= text.size() && at <= kMarkerBytes; ++at) {
        if (at < text.size() && continues(text[at])) continue;
        end = at;
        if (characters++ == kMarkerColumns) break;
    }
    // A text without any valid character is cut at any byte.
    return text.substr(0, end != 0 ? end : std::min(text.size(), kMarkerBytes));
}

MarkerClient::MarkerClient(const Variables& variables) {
    if (const auto lights = number_in(variables("MP_PMLIGHTS")))
        lights_ = std::clamp(*lights, 0, kMaxLights);
    const char* path = variables("MP_SEGMENT");
    const auto task = number_in(variables("MP_CHILD"));
    if (path == nullptr || !task) return;
    try {
        segment_ = NodeSegment::attach(path);
        const auto index = segment_->local_index(*task);
        if (!index)
            throw Error("MP_CHILD says task " + std::to_string(*task) +
                        ", which is not one of this node");
        row_ = &segment_->markers(*index);
        row_->width.store(static_cast<std::uint8_t>(lights_ + 1), std::memory_order_relaxed);
    } catch (const std::exception& error) {
        failure_ = error.what();
    }
}

void MarkerClient::progress(std::int64_t done, std::int64_t total) const noexcept {
    if (row_ == nullptr || lights_ == 0) return;
    total = std::max<std::int64_t>(total, 0);
    done = std::clamp<std::int64_t>(done, 0, total);
    row_->set_progress(static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(total));
}

const MarkerClient& the_marker_client() {
    static const MarkerClient& the_one =
        *new MarkerClient([](const char* name) -> const char* { return std::getenv(name); });
    return the_one;
}

}  // namespace poe::markers
