// Labels and whole lines, as tables and at random.
#include "partition_manager/stdio/line_formatter.hpp"

#include <map>
#include <random>
#include <sstream>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe::pm;

namespace {

struct Piece {
    poe::TaskId task;
    std::string data;
    bool open = false;
};

std::string formatted(bool labels, poe::TaskId tasks, const std::vector<Piece>& pieces,
                      bool finish = false) {
    LineFormatter formatter(labels, tasks);
    std::string out;
    for (const Piece& piece : pieces) formatter.append(out, piece.task, piece.data, piece.open);
    if (finish) formatter.finish(out);
    return out;
}

}  // namespace

TEST_CASE("labels are as wide as the job needs", "[line_formatter]") {
    CHECK(task_label(0, 1) == "   0:");
    CHECK(task_label(3, 4) == "   3:");
    CHECK(task_label(42, 100) == "  42:");
    CHECK(task_label(9999, 10000) == "9999:");
    CHECK(task_label(7, 10000) == "   7:");
    CHECK(task_label(7, 10001) == "    7:");
    CHECK(task_label(10000, 10001) == "10000:");
    CHECK(task_label(5, 100001) == "     5:");
    CHECK(task_label(100000, 100001) == "100000:");
}

TEST_CASE("what lines become", "[line_formatter]") {
    struct Case {
        const char* what;
        std::vector<Piece> pieces;
        std::string plain;
        std::string labelled;
    };
    using namespace std::string_literals;
    const Case cases[] = {
        {"nothing", {}, "", ""},
        {"an empty piece", {{0, ""}}, "", ""},
        {"a line", {{1, "a\n"}}, "a\n", "   1:a\n"},
        {"lines", {{1, "a\nb\n\nc\n"}}, "a\nb\n\nc\n", "   1:a\n   1:b\n   1:\n   1:c\n"},
        {"an empty line", {{0, "\n"}}, "\n", "   0:\n"},
        {"two tasks", {{0, "a\n"}, {1, "b\n"}}, "a\nb\n", "   0:a\n   1:b\n"},
        {"a line in two pieces", {{0, "a", true}, {0, "b\n"}}, "ab\n", "   0:ab\n"},
        {"an open line is ended by another task's",
         {{0, "a", true}, {1, "b\n"}, {0, "c\n"}},
         "a\nb\nc\n",
         "   0:a\n   1:b\n   0:c\n"},
        {"two tasks with open lines by turns",
         {{0, "a", true}, {1, "b", true}, {0, "c", true}, {1, "d", true}, {1, "e\n"}, {0, "f\n"}},
         "a\nb\nc\nde\nf\n",
         "   0:a\n   1:b\n   0:c\n   1:de\n   0:f\n"},
        {"an open piece with whole lines",
         {{0, "a\nb", true}, {0, "c\nd", true}, {0, "\n"}},
         "a\nbc\nd\n",
         "   0:a\n   0:bc\n   0:d\n"},
        {"the line feed alone later", {{0, "a", true}, {0, "\n"}}, "a\n", "   0:a\n"},
        {"the line feed alone, after another task",
         {{0, "a", true}, {1, "b\n"}, {0, "\n"}},
         "a\nb\n\n",
         "   0:a\n   1:b\n   0:\n"},
        {"an empty piece ends nothing", {{0, "a", true}, {1, ""}, {0, "b\n"}}, "ab\n", "   0:ab\n"},
        {"NUL", {{0, "a\0b\n\0\n"s}}, "a\0b\n\0\n"s, "   0:a\0b\n   0:\0\n"s},
        {"CR LF", {{0, "a\r\nb\r\n"}}, "a\r\nb\r\n", "   0:a\r\n   0:b\r\n"},
        {"a progress bar", {{0, "1%\r2%\r3%\n"}}, "1%\r2%\r3%\n", "   0:1%\r   0:2%\r   0:3%\n"},
        {"a progress bar in pieces",
         {{0, "1%\r", true}, {0, "2%\r", true}, {0, "done\n"}},
         "1%\r2%\rdone\n",
         "   0:1%\r   0:2%\r   0:done\n"},
        {"CR CR LF", {{0, "a\r\r\n"}}, "a\r\r\n", "   0:a\r   0:\r\n"},
        {"a progress bar and another task",
         {{0, "1%\r", true}, {1, "b\n"}, {0, "2%\r", true}},
         "1%\r\nb\n2%\r",
         "   0:1%\r\n   1:b\n   0:2%\r"},
        {"not UTF-8", {{0, "\xff\xfe\n"}}, "\xff\xfe\n", "   0:\xff\xfe\n"},
        {"the last line is not complete, and not said to be open",
         {{0, "a"}, {1, "b\n"}},
         "a\nb\n",
         "   0:a\n   1:b\n"},
    };
    for (const Case& one : cases) {
        INFO(one.what);
        CHECK(formatted(false, 4, one.pieces) == one.plain);
        CHECK(formatted(true, 4, one.pieces) == one.labelled);
    }
}

TEST_CASE("CR LF cut between two frames is one line end", "[line_formatter]") {
    CHECK(formatted(true, 2, {{0, "a\r", true}, {0, "\nb\n"}}) == "   0:a\r\n   0:b\n");
    CHECK(formatted(false, 2, {{0, "a\r", true}, {0, "\nb\n"}}) == "a\r\nb\n");
}

// Each line end is looked for once. Looked for from every line anew, this took minutes, and hours
// with a thread sanitizer.
TEST_CASE("millions of line ends of any kind in one piece", "[line_formatter]") {
    constexpr std::size_t kLines = std::size_t{4} << 20;
    for (const std::string end : {"\r", "\n", "\r\n", "\r\r\n"}) {
        std::string data;
        for (std::size_t i = 0; i < kLines; ++i) data += end;
        LineFormatter formatter(true, 2);
        std::string out;
        formatter.append(out, 1, data, false);
        const std::size_t labels = (out.size() - data.size()) / task_label(1, 2).size();
        CHECK(labels == (end == "\r\r\n" ? 2 * kLines : kLines));
    }
}

TEST_CASE("the end of the output", "[line_formatter]") {
    CHECK(formatted(true, 2, {{0, "a", true}}, true) == "   0:a\n");
    CHECK(formatted(false, 2, {{0, "a", true}}, true) == "a");
    CHECK(formatted(true, 2, {{0, "a\n"}}, true) == "   0:a\n");
    CHECK(formatted(true, 2, {}, true).empty());
    LineFormatter formatter(true, 2);
    std::string out;
    formatter.append(out, 0, "a", true);
    formatter.finish(out);
    formatter.finish(out);
    CHECK(out == "   0:a\n");
}

// Tasks write complete lines, in frames that end at line ends.
TEST_CASE("whole lines stay whole in any order", "[line_formatter]") {
    std::mt19937 random(17);
    for (int round = 0; round < 200; ++round) {
        const int tasks = 1 + static_cast<int>(random() % 5);
        LineFormatter plain(false, tasks);
        LineFormatter labelled(true, tasks);
        std::string plain_out;
        std::string labelled_out;
        std::string in_order;
        std::string in_order_labelled;
        for (int i = 0; i < 60; ++i) {
            const auto task = static_cast<poe::TaskId>(random() % static_cast<unsigned>(tasks));
            std::string frame;
            for (std::size_t lines = random() % 4; lines > 0; --lines) {
                std::string line(random() % 12, 'x');
                for (char& c : line) c = static_cast<char>("ab\0:\t 01"[random() % 8]);
                line += '\n';
                frame += line;
                in_order_labelled += task_label(task, tasks) + line;
            }
            in_order += frame;
            plain.append(plain_out, task, frame, false);
            labelled.append(labelled_out, task, frame, false);
        }
        plain.finish(plain_out);
        labelled.finish(labelled_out);
        REQUIRE(plain_out == in_order);
        REQUIRE(labelled_out == in_order_labelled);
    }
}

// Tasks write anything but carriage returns, in frames cut anywhere. Every line that comes out is
// one task's, and only line ends are added.
TEST_CASE("lines cut anywhere are never mixed", "[line_formatter]") {
    std::mt19937 random(23);
    for (int round = 0; round < 300; ++round) {
        const int tasks = 1 + static_cast<int>(random() % 4);
        LineFormatter formatter(true, tasks);
        LineFormatter plain(false, tasks);
        std::string out;
        std::string plain_out;
        std::map<poe::TaskId, std::string> written;  // without line ends
        for (int i = 0; i < 50; ++i) {
            const auto task = static_cast<poe::TaskId>(random() % static_cast<unsigned>(tasks));
            std::string frame(random() % 10, 'x');
            for (char& c : frame) c = static_cast<char>("ABC\n"[random() % 4]);
            // Letters say whose they are.
            for (char& c : frame)
                if (c != '\n') c = static_cast<char>(c + 3 * task);
            const bool open = !frame.empty() && frame.back() != '\n';
            formatter.append(out, task, frame, open);
            plain.append(plain_out, task, frame, open);
            for (const char c : frame)
                if (c != '\n') written[task] += c;
        }
        formatter.finish(out);
        std::map<poe::TaskId, std::string> found;
        std::string without_labels;
        std::istringstream lines(out);
        for (std::string line; std::getline(lines, line);) {
            REQUIRE(line.size() >= 5);
            const poe::TaskId task = std::stoi(line);
            REQUIRE(line.substr(0, 5) == task_label(task, tasks));
            found[task] += line.substr(5);
            without_labels += line.substr(5) + "\n";
        }
        for (auto& [task, text] : written) REQUIRE(found[task] == text);
        if (!plain_out.empty() && plain_out.back() != '\n') plain_out += '\n';
        REQUIRE(without_labels == plain_out);
    }
}
