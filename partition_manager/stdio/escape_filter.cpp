// See escape_filter.hpp. Sequences as in ECMA-48.
#include "partition_manager/stdio/escape_filter.hpp"

namespace poe::pm {

namespace {

constexpr char kEscapeByte = '\x1b';
constexpr char kBell = '\a';
constexpr std::size_t kLongestColour = 64;

// Control characters that a line of output may contain.
bool is_harmless(char c) {
    return static_cast<unsigned char>(c) >= 0x20
               ? c != '\x7f'
               : c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == kBell;
}

}  // namespace

void EscapeFilter::pass(std::string_view piece, std::string& out) {
    for (const char c : piece) {
        switch (state_) {
            case State::kText:
                if (c == kEscapeByte)
                    state_ = State::kEscape;
                else if (is_harmless(c))
                    out += c;
                break;
            case State::kEscape:
                sequence_.clear();
                // Strings: device control, operating system command, privacy message and similar.
                state_ = c == '[' ? State::kControl
                         : c == ']' || c == 'P' || c == '^' || c == '_' || c == 'X' ? State::kString
                         : c >= 0x20 && c < 0x30 ? State::kCharacterSet
                         : c == kEscapeByte      ? State::kEscape
                                                 : State::kText;
                break;
            case State::kCharacterSet:
                if (c < 0x20 || c > 0x2f) state_ = State::kText;
                break;
            case State::kControl:
                if (c >= 0x20 && c < 0x40) {
                    if (sequence_.size() < kLongestColour) sequence_ += c;
                    break;
                }
                // A colour consists of digits and separators only. A private mark makes it a
                // different sequence.
                if (c == 'm' && sequence_.find_first_not_of("0123456789;:") == std::string::npos)
                    out += "\x1b[" + sequence_ + "m";
                else if (c == '\n')
                    out += c;
                state_ = c == kEscapeByte ? State::kEscape : State::kText;
                break;
            case State::kString:
                if (c == kEscapeByte)
                    state_ = State::kStringEscape;
                else if (c == kBell || c == '\n') {
                    if (c == '\n') out += c;
                    state_ = State::kText;
                }
                break;
            case State::kStringEscape:
                state_ = c == kEscapeByte ? State::kStringEscape : State::kText;
                break;
        }
    }
}

}  // namespace poe::pm
