// Implementation of panes.hpp.
#include "tracer/playback/panes.hpp"

#include <algorithm>

namespace poe::trace {
namespace {

constexpr int kNarrowest = 60;
constexpr int kLowest = 4;

bool over_time(ViewKind kind) {
    return kind == ViewKind::kTimeline || kind == ViewKind::kStream ||
           kind == ViewKind::kUtilization || kind == ViewKind::kSystem;
}

// Views next to each other.
struct Band {
    std::vector<std::size_t> panes;
    bool wide = false;  // a single view over time
};

std::vector<Band> bands_of(const std::vector<ViewKind>& panes, int columns) {
    const auto narrow = static_cast<int>(
        std::count_if(panes.begin(), panes.end(), [](ViewKind kind) { return !over_time(kind); }));
    // Distributed evenly: four views are two by two.
    const int most = std::clamp(columns / kNarrowest, 1, std::max(narrow, 1));
    const int count = (narrow + most - 1) / most;
    const int beside = count == 0 ? 1 : (narrow + count - 1) / count;
    std::vector<Band> bands;
    for (std::size_t i = 0; i < panes.size(); ++i) {
        const bool wide = over_time(panes[i]);
        const bool joins = !wide && !bands.empty() && !bands.back().wide &&
                           static_cast<int>(bands.back().panes.size()) < beside;
        if (!joins) bands.push_back({{}, wide});
        bands.back().panes.push_back(i);
    }
    return bands;
}

}  // namespace

std::vector<ViewKind> panes_of(const ViewState& look, terminal::Size screen) {
    constexpr int kLinesForTwo = 20;
    constexpr int kLinesForMore = 28;
    constexpr int kColumnsForMore = 2 * kNarrowest;
    if (!look.panes.empty()) return look.panes;
    std::vector<ViewKind> panes{ViewKind::kTimeline};
    if (screen.lines >= kLinesForTwo) panes.push_back(ViewKind::kCalls);
    if (screen.lines >= kLinesForMore && screen.columns >= kColumnsForMore)
        panes.push_back(ViewKind::kBalance);
    if (screen.lines >= kLinesForMore && screen.columns >= kColumnsForMore + kNarrowest)
        panes.push_back(ViewKind::kConnections);
    return panes;
}

std::vector<Place> places_of(const std::vector<ViewKind>& panes, terminal::Size screen) {
    const int lines = screen.lines - 2;
    const int columns = screen.columns;
    if (lines <= 0 || columns <= 0) return {};
    std::vector<Band> bands = bands_of(panes, columns);
    // The last views have no room.
    while (bands.size() > 1 && lines / static_cast<int>(bands.size()) < kLowest) bands.pop_back();
    const int rows = static_cast<int>(bands.size());
    std::vector<Place> places;
    for (int row = 0; row < rows; ++row) {
        const Band& band = bands[static_cast<std::size_t>(row)];
        const int top = lines * row / rows;
        const int count = static_cast<int>(band.panes.size());
        for (int i = 0; i < count; ++i) {
            const int left = columns * i / count;
            places.push_back({1 + top, left, lines * (row + 1) / rows - top,
                              columns * (i + 1) / count - left - (i + 1 < count ? 1 : 0)});
        }
    }
    return places;
}

}  // namespace poe::trace
