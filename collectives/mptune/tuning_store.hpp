// The tuning file as mptune finds it and writes it again. Apart from what is measured; the language
// of the file is in tuning.hpp.
#pragma once

#include <string>

#include "base/result.hpp"
#include "collectives/selection/tuning.hpp"

namespace poe::collectives {

struct StoredTuning {
    Tuning tuning;
    std::string head;  // the comments before everything else; lines
};

// The comments at the beginning of a text, without their '#'. Pure.
std::string head_of(std::string_view text);

// What the file at `path` says; what is built in when there is none. An error where a new text must
// not be put: it holds something else than a tuning, or cannot be read, or is no regular file.
// Blocking.
Result<StoredTuning> read_stored(const std::string& path, unsigned cores);

// Puts the text in the place of the file that `path` names, through symbolic links, or does
// nothing: the file is the old or the new one at any moment. Makes the directory if need be. Empty,
// or what went wrong. Blocking.
std::string replace_file(const std::string& path, const std::string& text);

}  // namespace poe::collectives
