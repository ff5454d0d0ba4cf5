// draw_figure: renders a view of a trace as a figure.
#pragma once

#include "tracer/playback/easel.hpp"
#include "tracer/playback/figure.hpp"

namespace poe::trace {

// Pure, except that the session reads its trace.
Figure draw_figure(ViewKind kind, const Look& look, FigureSize size, const Easel& easel);

}  // namespace poe::trace
