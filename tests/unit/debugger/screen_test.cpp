#include <catch2/catch.hpp>

#include "debugger/line_input.hpp"
#include "debugger/screen_view.hpp"

using namespace poe;
using namespace poe::debugger;
using terminal::Activity;
using terminal::Key;

namespace {

void type(LineInput& line, const std::string& text) {
    for (const char letter : text)
        line.on_key({Key::Kind::kCharacter, static_cast<char32_t>(letter), 0, 0});
}

bool press(LineInput& line, Key::Kind kind) {
    return line.on_key({kind, 0, 0, 0});
}

std::vector<std::string> no_words(const std::string&, bool) {
    return {};
}

Picture four_tasks() {
    Picture picture;
    picture.tasks = {Activity::kStopped, Activity::kStopped, Activity::kComputing,
                     Activity::kFailed};
    picture.file = "/src/ring.c";
    picture.line = 3;
    picture.marks = {{3, {0}}, {5, {1, 3}}};
    picture.stacks = {"0  main  ring.c:3", "1,3  main  ring.c:5"};
    return picture;
}

const std::vector<std::string> kSource = {"one", "two", "\tthree", "four", "five", "six"};

}  // namespace

TEST_CASE("a typed line is edited, and earlier lines come back") {
    LineInput line(no_words);
    type(line, "print y");
    press(line, Key::Kind::kBackspace);
    type(line, "x");
    press(line, Key::Kind::kHome);
    press(line, Key::Kind::kRight);
    press(line, Key::Kind::kBackspace);
    type(line, "P");
    CHECK(press(line, Key::Kind::kEnter));
    CHECK(line.finish() == "Print x");
    CHECK(line.empty());
    type(line, "cont");
    CHECK(line.finish() == "cont");
    type(line, "new");
    press(line, Key::Kind::kUp);
    press(line, Key::Kind::kUp);
    press(line, Key::Kind::kUp);
    CHECK(line.text() == U"Print x");
    press(line, Key::Kind::kDown);
    CHECK(line.text() == U"cont");
    press(line, Key::Kind::kDown);
    CHECK(line.text() == U"new");
    type(line, "\x15");
    CHECK(line.empty());
    type(line, "abc\x01\x0b");
    CHECK(line.empty());
}

TEST_CASE("Tab completes as far as all possibilities agree") {
    LineInput line([](const std::string& word, bool first) {
        std::vector<std::string> found;
        for (const char* name : {"continue", "context", "print"})
            if (first && std::string(name).starts_with(word)) found.emplace_back(name);
        return found;
    });
    type(line, "co\t");
    CHECK(line.text() == U"cont");
    CHECK(line.choices().size() == 2);
    type(line, "i\t");
    CHECK(line.text() == U"continue ");
    CHECK(line.choices().empty());
    type(line, "p\t");
    CHECK(line.text() == U"continue p");
    line.clear();
    type(line, "\t");
    CHECK(line.empty());
    CHECK(line.choices().size() == 3);
}

TEST_CASE("the screen shows lights, source with tasks, stacks, answers and the typed line") {
    ScreenText text;
    text.unicode = false;
    text.log = {"0: stopped"};
    text.prompt = "pdbx all 3/4> ";
    text.input = U"cont";
    text.cursor = 4;
    const std::string shown = draw_screen(four_tasks(), kSource, text, {60, 20}).text();
    for (const char* part :
         {" /src/ring.c\n", "           0>    3         three\n", "         1,3     5 five\n",
          " stacks\n0  main  ring.c:3\n1,3  main  ring.c:5\n", " answers and output\n0: stopped\n",
          "pdbx all 3/4> cont"}) {
        INFO(shown);
        CHECK(shown.find(part) != std::string::npos);
    }
    // While a command is executed there is no prompt.
    text.prompt.clear();
    CHECK(
        draw_screen(four_tasks(), kSource, text, {60, 20}).text().find("Ctrl-C stops the tasks") !=
        std::string::npos);
}

TEST_CASE("every size of a screen can be drawn") {
    ScreenText text;
    text.prompt = "pdbx all 3/4> ";
    text.input = std::u32string(300, U'x');
    text.cursor = 150;
    for (int i = 0; i < 50; ++i) text.log.push_back(std::string(static_cast<std::size_t>(i), 'y'));
    Picture picture = four_tasks();
    picture.tasks.assign(2000, Activity::kStopped);
    picture.line = 100;  // beyond the end of a file that has changed
    for (int columns = 1; columns < 120; columns += 7)
        for (int lines = 1; lines < 60; lines += 3)
            CHECK(draw_screen(picture, kSource, text, {columns, lines}).size().lines == lines);
}

TEST_CASE("long lines of answers are wrapped, and the log is scrolled by lines of the screen") {
    CHECK(wrapped("abcdef", 4) == std::vector<std::string>{"abcd", "ef"});
    CHECK(wrapped("", 4) == std::vector<std::string>{""});
    CHECK(wrapped("ää€", 2) == std::vector<std::string>{"ää", "€"});
    CHECK(wrapped("a\tb", 20) == std::vector<std::string>{"a       b"});
    ScreenText text;
    text.prompt = "> ";
    text.log = {"first", "second", "third"};
    text.back = 1;
    CHECK(draw_screen({}, {}, text, {20, 3}).text() == "first\nsecond\n>\n");
}
