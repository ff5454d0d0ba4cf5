// The glyphs of lights, activities and bars, in Unicode and in ASCII. Each colour name and each
// activity has a shape of its own, so that no information is shown by colour alone.
#pragma once

#include <string>

#include "terminal/activity.hpp"

namespace poe::terminal {

class Glyphs {
  public:
    explicit Glyphs(bool unicode) : unicode_(unicode) {}

    // Precondition: 0 <= color < kMarkerColors.
    char32_t light(int color) const;
    char32_t unlit() const { return unicode_ ? U'·' : U'.'; }
    char32_t activity(Activity activity) const;
    // Returns a bar of `width` columns in UTF-8, filled to `share` (0..1).
    std::string bar(int width, double share) const;
    std::string dash() const { return unicode_ ? "–" : "-"; }
    bool unicode() const { return unicode_; }

  private:
    bool unicode_;
};

}  // namespace poe::terminal
