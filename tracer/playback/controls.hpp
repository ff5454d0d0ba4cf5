// The effect of keys on a look: the controls of a video recorder, and the choice of views. The help
// is generated from the same table of keys.
#pragma once

#include "markerarray/keys.hpp"
#include "tracer/playback/view_state.hpp"

namespace poe::trace {

// Changes the look, and reads the trace where necessary. Returns what the caller must do.
markers::Command press(ViewState& look, const terminal::Key& key, Session& session,
                       terminal::Size size);

const std::vector<markers::KeyHelp>& control_help();

}  // namespace poe::trace
