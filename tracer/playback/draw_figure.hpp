// draw_figure: renders a view of a trace as a figure.
#pragma once

#include "tracer/playback/figure.hpp"
#include "tracer/playback/view_context.hpp"

namespace poe::trace {

// Pure, except that the session reads its trace.
Figure draw_figure(ViewKind kind, const ViewState& look, FigureSize size, const ViewContext& easel);

}  // namespace poe::trace
