// "Did you mean": finds the known word nearest to a mistyped one. It is in base because many rooms
// have messages about unknown words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace poe {

// True if the two words are equal, ignoring the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

// Returns how many letters must be inserted, deleted, replaced, or swapped with a neighbour to turn
// one word into the other; ignores case. Pure; costs |a| * |b|.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the candidate nearest to `word`, the first of equals, or an empty string if none is near.
// A candidate is near if it differs by at most one third of the word's letters (at least one is
// allowed), or if it is the only one that begins with `word`.
std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns "; did you mean state?" if one of `candidates` is near to `word`, otherwise an empty
// string. The text ends a message about an unknown word.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns `text` without anything that a terminal would interpret: control characters other than
// tabs, and bytes that are not valid UTF-8, become \xNN.
std::string visible(std::string_view text);

// Returns `text` in double quotes, safe to print: bytes other than printable ASCII and UTF-8 become
// \xNN. Text longer than 80 bytes is cut and ends in "...".
std::string in_quotes(std::string_view text);

// Returns "1 task", "2 tasks".
std::string count_words(std::size_t count, const std::string& thing);

}  // namespace poe
