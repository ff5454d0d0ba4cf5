// Implementation of draw_figure.hpp.
#include "tracer/playback/draw_figure.hpp"

#include "tracer/playback/figure_parts.hpp"

namespace poe::trace {

Figure draw_figure(ViewKind kind, const ViewState& look, FigureSize size,
                   const ViewContext& easel) {
    switch (kind) {
        case ViewKind::kTimeline:
            return figure_of_timeline(look, size, easel);
        case ViewKind::kStream:
            return figure_of_stream(look, size, easel);
        case ViewKind::kMatrix:
            return figure_of_matrix(look, size, easel);
        case ViewKind::kConnections:
            return figure_of_connections(look, size, easel);
        case ViewKind::kMessages:
            return figure_of_messages(look, size, easel);
        case ViewKind::kBalance:
            return figure_of_balance(look, size, easel);
        case ViewKind::kUtilization:
            return figure_of_utilization(look, size, easel);
        case ViewKind::kCalls:
            return figure_of_calls(look, size, easel);
        case ViewKind::kSystem:
            return figure_of_system(look, size, easel);
        case ViewKind::kFlame:
            return figure_of_flame(look, size, easel);
        case ViewKind::kMarkers:
        case ViewKind::kSource:
        case ViewKind::kWaits:
        case ViewKind::kCauses:
        case ViewKind::kPath:
        case ViewKind::kEfficiency:
            break;
    }
    return figure_of_cells(kind, look, size, easel);
}

}  // namespace poe::trace
