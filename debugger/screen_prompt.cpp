// See screen_prompt.hpp.
#include "debugger/screen_prompt.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace poe::debugger {

namespace {

constexpr std::size_t kKeptLog = 5000;

// Keys of the terminal that are signals elsewhere.
constexpr char32_t kInterrupt = 3;
constexpr char32_t kEndOfInput = 4;
constexpr char32_t kRedraw = 12;
constexpr char32_t kSuspend = 26;

std::vector<std::string> lines_of_file(const std::string& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace

ScreenPrompt::ScreenPrompt(Complete complete, bool unicode)
    : screen_(std::make_unique<terminal::Screen>(terminal::Screen::Settings{})),
      line_(std::move(complete)) {
    text_.unicode = unicode;
    draw();
}

void ScreenPrompt::draw() {
    if (!screen_) return;
    text_.input = line_.text();
    text_.cursor = line_.cursor();
    screen_->show(draw_screen(picture_, source_, text_, screen_->size()));
}

void ScreenPrompt::show(const std::string& prompt) {
    if (text_.prompt == prompt) return;
    text_.prompt = prompt;
    while (!typed_ahead_.empty() && !input_) {
        const terminal::Key key = typed_ahead_.front();
        typed_ahead_.pop_front();
        type(key);
    }
    draw();
}

void ScreenPrompt::hide() {
    if (!screen_) return;
    const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(
        text_.log.size(), static_cast<std::size_t>(screen_->size().lines) - 1));
    screen_.reset();
    for (auto line = text_.log.end() - shown; line != text_.log.end(); ++line)
        std::puts(line->c_str());
    std::fflush(stdout);
}

void ScreenPrompt::print(const std::string& lines) {
    if (!screen_) {
        std::fwrite(lines.data(), 1, lines.size(), stdout);
        std::fflush(stdout);
        return;
    }
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        text_.log.push_back(lines.substr(begin, end - begin));
        begin = end + 1;
    }
    while (text_.log.size() > kKeptLog) text_.log.pop_front();
    draw();
}

void ScreenPrompt::read() {
    while (screen_) {
        const auto key = screen_->key();
        if (!key) break;
        on_key(*key);
    }
    draw();
}

void ScreenPrompt::scroll(int lines) {
    const auto most = static_cast<std::ptrdiff_t>(text_.log.size());
    text_.back = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(text_.back) + lines, 0, most));
}

void ScreenPrompt::on_key(const terminal::Key& key) {
    using Kind = terminal::Key::Kind;
    constexpr int kWheel = 3;
    const int page = std::max(1, screen_->size().lines / 3);
    const bool typed = key.kind == Kind::kCharacter;
    if (key.kind == Kind::kPageUp) return scroll(page);
    if (key.kind == Kind::kPageDown) return scroll(-page);
    if (key.kind == Kind::kWheelUp) return scroll(kWheel);
    if (key.kind == Kind::kWheelDown) return scroll(-kWheel);
    // pdbx gets the signal as from a terminal.
    if (typed && key.character == kInterrupt) return static_cast<void>(::kill(::getpid(), SIGINT));
    if (typed && key.character == kRedraw) return screen_->repaint();
    if (typed && key.character == kSuspend) {
        screen_->leave();
        ::raise(SIGSTOP);
        return screen_->come_back();
    }
    if (text_.prompt.empty() || input_)
        typed_ahead_.push_back(key);
    else
        type(key);
}

void ScreenPrompt::type(const terminal::Key& key) {
    text_.back = 0;
    const bool typed = key.kind == terminal::Key::Kind::kCharacter;
    if (typed && key.character == kEndOfInput) {
        if (line_.empty()) input_ = Input{true, ""};
        return;
    }
    if (!line_.on_key(key)) {
        std::string choices;
        for (const std::string& choice : line_.choices()) choices += choice + "  ";
        if (!choices.empty()) text_.log.push_back(choices);
        return;
    }
    input_ = Input{false, line_.finish()};
    text_.log.push_back(text_.prompt + input_->line);
    text_.prompt.clear();
}

std::optional<Prompt::Input> ScreenPrompt::take() {
    return std::exchange(input_, std::nullopt);
}

void ScreenPrompt::discard() {
    line_.clear();
    typed_ahead_.clear();
    draw();
}

void ScreenPrompt::picture(Picture picture) {
    if (picture == picture_) return;
    if (picture.file != picture_.file) source_ = lines_of_file(picture.file);
    picture_ = std::move(picture);
    draw();
}

void ScreenPrompt::resized() {
    if (!screen_) return;
    screen_->resized();
    draw();
}

}  // namespace poe::debugger
