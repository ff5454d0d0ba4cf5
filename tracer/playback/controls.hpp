// What keys do to a look: the controls of a video recorder, and the choice of views. One table of
// keys, from which the help is made, too.
#pragma once

#include "markerarray/keys.hpp"
#include "tracer/playback/look.hpp"

namespace poe::trace {

// Changes the look, by asking the trace where it must. What is left to be done is the caller's.
markers::Command press(Look& look, const terminal::Key& key, Session& session, terminal::Size size);

const std::vector<markers::KeyHelp>& control_help();

}  // namespace poe::trace
