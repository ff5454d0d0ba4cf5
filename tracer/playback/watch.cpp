// Implementation of watch.hpp.
#include "tracer/playback/watch.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <unistd.h>

#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "terminal/screen.hpp"
#include "terminal/screen_signals.hpp"
#include "tracer/playback/analysis_cache.hpp"
#include "tracer/playback/controls.hpp"
#include "tracer/playback/views.hpp"

namespace poe::trace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFrame{50};
constexpr std::chrono::milliseconds kFollow{1000};

class Player {
  public:
    Player(std::unique_ptr<Session> session, ViewState look, const WatchOptions& options)
        : session_(std::move(session)),
          look_(std::move(look)),
          follow_(options.follow),
          news_(options.news),
          glyphs_(options.unicode),
          screen_({.colors = options.colors, .mouse = true}) {}

    int run() {
        Clock::time_point last = Clock::now();
        bool changed = true;
        while (true) {
            const Clock::time_point now = Clock::now();
            changed |= look_.direction != 0;
            play(look_, session_->whole(), now - last);
            last = now;
            changed |= follow(now);
            changed |= hear(now);
            if (changed) draw();
            changed = false;
            // If the playback is stopped, sleeps until a key arrives or the trace may have grown.
            const int timeout = look_.direction != 0 ? static_cast<int>(kFrame.count())
                                : follow_ || news_   ? static_cast<int>(kFollow.count())
                                                     : -1;
            if (!signals_.wait(timeout)) return SIGHUP;
            if (const int signal = signals_.take(screen_, changed)) return signal;
            while (const auto key = screen_.key()) {
                changed = true;
                switch (press(look_, *key, *session_, screen_.size())) {
                    case markers::Command::kQuit:
                        return 0;
                    case markers::Command::kRepaint:
                        screen_.repaint();
                        break;
                    case markers::Command::kSuspend:
                        ::kill(0, SIGTSTP);
                        break;
                    default:
                        break;
                }
            }
        }
    }

  private:
    // A view at the end stays at the end while the trace grows.
    bool follow(Clock::time_point now) {
        if (!follow_ || now < follow_at_) return false;
        const Stretch before = session_->whole();
        const bool at_end = look_.now >= before.to;
        const bool all = look_.window == before;
        const bool grown = follow_(*session_);
        follow_at_ = Clock::now() + kFollow + 10 * (Clock::now() - now);
        if (!grown) return false;
        const Stretch whole = session_->whole();
        if (all) look_.window = whole;
        move_to(look_, whole, at_end ? whole.to : look_.now);
        return true;
    }

    // Reports each piece of news once.
    bool hear(Clock::time_point now) {
        if (!news_ || now < hear_at_) return false;
        hear_at_ = now + kFollow;
        std::string news = news_();
        const bool is_new = !news.empty() && news != heard_;
        if (is_new) look_.notice = news;
        heard_ = std::move(news);
        return is_new;
    }

    void draw() {
        if (!screen_.ready()) return;
        const ViewContext easel{*session_,
                                symbols_,
                                glyphs_,
                                [this](const std::string& path) { return source_lines(path); },
                                [this]() -> const Analysis& { return analysis_.get(); },
                                screen_.colored()};
        screen_.show(draw_screen(look_, screen_.size(), easel));
    }

    const std::vector<std::string>& source_lines(const std::string& path) {
        const auto [known, is_new] = sources_.try_emplace(path);
        if (!is_new) return known->second;
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) known->second.push_back(line);
        return known->second;
    }

    std::unique_ptr<Session> session_;
    ViewState look_;
    std::function<bool(Session&)> follow_;
    Clock::time_point follow_at_ = Clock::now() + kFollow;
    std::function<std::string()> news_;
    Clock::time_point hear_at_ = Clock::now();
    std::string heard_;
    terminal::ScreenSignals signals_;
    terminal::Glyphs glyphs_;
    terminal::Screen screen_;
    Symbols symbols_;
    AnalysisCache analysis_{*session_, symbols_};
    std::map<std::string, std::vector<std::string>> sources_;
};

}  // namespace

int watch(std::unique_ptr<Session> session, ViewState look, const WatchOptions& options) {
    return Player(std::move(session), std::move(look), options).run();
}

}  // namespace poe::trace
