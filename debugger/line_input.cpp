// See line_input.hpp.
#include "debugger/line_input.hpp"

#include <algorithm>
#include <utility>

#include "terminal/grid.hpp"

namespace poe::debugger {

namespace {

constexpr std::size_t kKeptLines = 1000;

// The numbers of control characters: Ctrl-A is 1.
constexpr char32_t control(char letter) {
    return static_cast<char32_t>(letter - 'A' + 1);
}

std::string utf8(std::u32string_view text) {
    std::string bytes;
    for (const char32_t character : text) terminal::append_utf8(bytes, character);
    return bytes;
}

}  // namespace

bool LineInput::on_key(const terminal::Key& key) {
    using Kind = terminal::Key::Kind;
    choices_.clear();
    switch (key.kind) {
        case Kind::kEnter:
            return true;
        case Kind::kCharacter:
            on_character(key.character);
            break;
        case Kind::kBackspace:
            if (cursor_ > 0) text_.erase(--cursor_, 1);
            break;
        case Kind::kLeft:
            if (cursor_ > 0) --cursor_;
            break;
        case Kind::kRight:
            cursor_ = std::min(cursor_ + 1, text_.size());
            break;
        case Kind::kHome:
            cursor_ = 0;
            break;
        case Kind::kEnd:
            cursor_ = text_.size();
            break;
        case Kind::kUp:
            recall(true);
            break;
        case Kind::kDown:
            recall(false);
            break;
        default:
            break;
    }
    return false;
}

// The control characters are those of readline.
void LineInput::on_character(char32_t character) {
    switch (character) {
        case U'\t':
            return complete();
        case control('A'):
            cursor_ = 0;
            return;
        case control('E'):
            cursor_ = text_.size();
            return;
        case control('U'):
            text_.erase(0, std::exchange(cursor_, 0));
            return;
        case control('K'):
            text_.erase(cursor_);
            return;
        default:
            if (character >= U' ') text_.insert(cursor_++, 1, character);
    }
}

void LineInput::recall(bool older) {
    if (older ? recalled_ == history_.size() : recalled_ == 0) return;
    if (recalled_ == 0) new_line_ = text_;
    recalled_ += older ? 1 : -1;
    text_ = recalled_ == 0 ? new_line_ : history_[history_.size() - recalled_];
    cursor_ = text_.size();
}

// Completes the word before the cursor as far as all possibilities agree.
void LineInput::complete() {
    const std::size_t blank = text_.find_last_of(U" \t", cursor_ == 0 ? 0 : cursor_ - 1);
    const std::size_t begin = cursor_ == 0 || blank == std::u32string::npos ? 0 : blank + 1;
    const bool first = text_.find_first_not_of(U" \t") >= begin;
    const std::string word = utf8(text_.substr(begin, cursor_ - begin));
    std::vector<std::string> found = complete_(word, first);
    if (found.empty()) return;
    std::string common = found.front();
    for (const std::string& each : found) {
        const auto end = std::mismatch(common.begin(), common.end(), each.begin(), each.end());
        common.erase(end.first, common.end());
    }
    if (common.size() < word.size()) return;
    std::u32string rest;
    for (const char letter : common.substr(word.size())) rest += static_cast<unsigned char>(letter);
    if (found.size() == 1) rest += U' ';
    text_.insert(cursor_, rest);
    cursor_ += rest.size();
    if (found.size() > 1) choices_ = std::move(found);
}

std::string LineInput::finish() {
    if (!text_.empty() && (history_.empty() || history_.back() != text_)) {
        history_.push_back(text_);
        if (history_.size() > kKeptLines) history_.erase(history_.begin());
    }
    std::string line = utf8(text_);
    clear();
    return line;
}

void LineInput::clear() {
    text_.clear();
    cursor_ = recalled_ = 0;
    choices_.clear();
}

}  // namespace poe::debugger
