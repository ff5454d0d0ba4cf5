// The tuning file as mptune reads and replaces it. It is separate from the measurements; the
// language of the file is described in tuning.hpp.
#pragma once

#include <string>

#include "base/result.hpp"
#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

struct StoredTuning {
    Tuning tuning;
    std::string head;  // the comments before everything else; lines
};

// Returns the comments at the beginning of a text, without their '#'. Pure.
std::string head_of(std::string_view text);

// Returns the tuning in the file at `path`, or the built-in one if there is no file. Returns an
// error if the file must not be replaced: it contains something else than a tuning, cannot be read,
// or is not a regular file. Blocks.
Result<StoredTuning> read_stored(const std::string& path, unsigned cores);

// Replaces the file that `path` names, through symbolic links, or does nothing: at any moment the
// file is the old or the new one. Creates the directory if necessary. Returns an empty text, or
// what went wrong. Blocks.
std::string replace_file(const std::string& path, const std::string& text);

}  // namespace poe::collectives
