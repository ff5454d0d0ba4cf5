// draw_figure: a view of a trace as a figure.
#pragma once

#include "tracer/playback/easel.hpp"
#include "tracer/playback/figure.hpp"

namespace poe::trace {

// Pure but for what the session reads of its trace.
Figure draw_figure(ViewKind kind, const Look& look, FigureSize size, const Easel& easel);

}  // namespace poe::trace
