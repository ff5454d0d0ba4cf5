// EscapeFilter: removes from a task's output what would disturb a display on the same terminal:
// escape sequences that move the cursor, clear, or change modes. Colours are kept. It has state,
// because a piece of the stream may end within a sequence.
#pragma once

#include <string>
#include <string_view>

namespace poe::pm {

class EscapeFilter {
  public:
    // Appends the visible part of the next piece of the stream to `out`.
    void pass(std::string_view piece, std::string& out);

  private:
    enum class State { kText, kEscape, kControl, kString, kStringEscape, kCharacterSet };

    State state_ = State::kText;
    std::string sequence_;  // the bytes of kControl so far
};

}  // namespace poe::pm
