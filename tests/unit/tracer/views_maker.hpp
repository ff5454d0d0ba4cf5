// A trace that is being played, without a terminal.
#pragma once

#include <clocale>

#include "tests/unit/tracer/trace_maker.hpp"
#include "tracer/playback/analysis_cache.hpp"
#include "tracer/playback/controls.hpp"
#include "tracer/playback/views.hpp"

namespace poe::trace::test {

using terminal::Grid;
using terminal::Size;

inline constexpr Size kUsual{80, 24};

struct Playing {
    explicit Playing(TraceSource source = small_trace())
        : session(std::move(source), {}, [](double) {}), look(look_at(session)) {
        std::setlocale(LC_CTYPE, "C.UTF-8");
    }
    ViewContext easel(const terminal::Glyphs& glyphs, bool colors = false) {
        return {session,
                symbols,
                glyphs,
                [](const std::string&) { return std::vector<std::string>(); },
                [this]() -> const Analysis& { return analysis.get(); },
                colors};
    }
    Grid screen(Size size, bool unicode = true) {
        const terminal::Glyphs glyphs(unicode);
        return draw_screen(look, size, easel(glyphs));
    }
    // One view alone.
    std::string view(ViewKind kind, Size size, bool unicode = true) {
        const terminal::Glyphs glyphs(unicode);
        return draw_view(kind, look, size, easel(glyphs)).text();
    }
    void press(const std::string& keys) {
        for (const char c : keys)
            trace::press(look, {terminal::Key::Kind::kCharacter, static_cast<char32_t>(c), 0, 0},
                         session, kUsual);
    }
    void press(terminal::Key::Kind kind) { trace::press(look, {kind, 0, 0, 0}, session, kUsual); }
    void click(int line, int column, Size size = kUsual) {
        trace::press(look, {terminal::Key::Kind::kClick, 0, line, column}, session, size);
    }

    Session session;
    Symbols symbols;
    AnalysisCache analysis{session, symbols};
    ViewState look;
};

}  // namespace poe::trace::test
