// The shapes of lights, activities and bars, in Unicode and in ASCII. Each colour name and each
// activity has a shape of its own, so that nothing is told by colour alone.
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
    // A bar of `width` columns, UTF-8, of which this share is filled.
    std::string bar(int width, double share) const;
    std::string dash() const { return unicode_ ? "–" : "-"; }
    bool unicode() const { return unicode_; }

  private:
    bool unicode_;
};

}  // namespace poe::terminal
