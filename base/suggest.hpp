// "Did you mean": the known word that is nearest to a mistyped one. Here, not in poe/, because the
// host file's messages need it too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace poe {

// Whether two words are the same when letter case (of ASCII letters) does not count.
bool same_word(std::string_view a, std::string_view b);

// Number of letters to insert, delete, replace, or swap with their neighbour to get from one word
// to the other; letter case does not count. Pure; costs |a| * |b|.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, the first of equals; empty when none is near: at most one third
// of its letters (but at least one) may differ, or it continues `word` in exactly one way.
std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// "; did you mean state?" if one of `candidates` is near to `word`, else nothing: the end of a
// message about a word that is not known.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

// `text` without anything that a terminal would obey: control characters but tabs, and bytes that
// are no UTF-8, become \xNN.
std::string visible(std::string_view text);

// `text` in double quotes, fit to be shown: other bytes than printable ASCII and UTF-8 become \xNN,
// and what is longer than 80 bytes is cut and ends in "...".
std::string in_quotes(std::string_view text);

// "1 task", "2 tasks"
std::string count_words(std::size_t count, const std::string& thing);

}  // namespace poe
