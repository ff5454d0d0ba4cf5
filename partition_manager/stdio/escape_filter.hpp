// EscapeFilter: takes out of a task's output what would disturb a display on the same terminal:
// escape sequences that move the cursor, clear, or change modes. Colours stay. Apart from the
// streams, because it must remember half of a sequence at the end of a piece.
#pragma once

#include <string>
#include <string_view>

namespace poe::pm {

class EscapeFilter {
  public:
    // Appends to `out` what may be shown of the next piece of the stream.
    void pass(std::string_view piece, std::string& out);

  private:
    enum class State { kText, kEscape, kControl, kString, kStringEscape, kCharacterSet };

    State state_ = State::kText;
    std::string sequence_;  // so far, of kControl
};

}  // namespace poe::pm
