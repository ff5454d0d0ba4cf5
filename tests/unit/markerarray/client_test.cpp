// The writing side: which variables lead to a row, what is kept of a text, and what is ignored.
#include "markerarray/client/client.hpp"

#include <filesystem>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "terminal/colors.hpp"

using namespace poe;
using namespace poe::markers;
using namespace poe::terminal;

namespace {

// A job of three tasks, of which 0 and 2 are here.
struct Job {
    Job() {
        char name[] = "/dev/shm/poe-unit-XXXXXX";
        directory = ::mkdtemp(name);
        NodeSegmentSpec spec;
        spec.job_id = "unit-1";
        spec.path = directory + "/segment";
        spec.node_of_task = {0, 1, 0};
        segment.emplace(NodeSegment::create(spec));
    }
    ~Job() { std::filesystem::remove_all(directory); }

    MarkerClient client(const std::map<std::string, std::string>& variables) const {
        return MarkerClient([variables](const char* name) -> const char* {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        });
    }
    MarkerClient of_task(const std::string& task, const std::string& lights = "") const {
        std::map<std::string, std::string> variables{{"MP_CHILD", task},
                                                     {"MP_SEGMENT", directory + "/segment"}};
        if (!lights.empty()) variables["MP_PMLIGHTS"] = lights;
        return client(variables);
    }

    std::string directory;
    std::optional<NodeSegment> segment;
};

}  // namespace

TEST_CASE("a task writes its own row") {
    const Job job;
    const MarkerClient client = job.of_task("2");
    REQUIRE(client.failure().empty());
    CHECK(client.lights() == 100);
    MarkerRow& row = job.segment->markers(1);
    CHECK(row.width.load() == 101);
    client.mark(3, 62, "hello");
    CHECK(row.lights[3].load() == 63);
    CHECK(row.text()->text == "hello");
    client.mark(4, 102, std::nullopt);
    CHECK(row.lights[4].load() == 103);
    CHECK(row.text()->text == "hello");
    client.mark(-1, 5, "only text");
    CHECK(row.text()->text == "only text");
    client.mark(0, 5, "");
    CHECK(row.text()->text.empty());
    for (const int light : {-1, 100, 1 << 30, -(1 << 30)}) client.mark(light, 7, std::nullopt);
    for (const int color : {-1, 103, 1 << 30}) client.mark(5, color, std::nullopt);
    CHECK(row.lights[5].load() == 0);
    client.progress(3, 4);
    CHECK(row.done.load() == 3);
    CHECK(row.total.load() == 4);
    client.progress(9, 4);
    CHECK(row.done.load() == 4);
    client.progress(-9, -4);
    CHECK(row.total.load() == 0);
    CHECK(job.segment->markers(0).last.load() == 0);
}

TEST_CASE("MP_PMLIGHTS limits the lights") {
    const Job job;
    const MarkerClient client = job.of_task("0", "8");
    CHECK(client.lights() == 8);
    client.mark(7, 1, std::nullopt);
    client.mark(8, 1, std::nullopt);
    CHECK(job.segment->markers(0).lights[7].load() == 2);
    CHECK(job.segment->markers(0).lights[8].load() == 0);
    const MarkerClient none = job.of_task("2", "0");
    none.mark(0, 1, "text");
    none.progress(1, 2);
    CHECK(job.segment->markers(1).lights[0].load() == 0);
    CHECK(job.segment->markers(1).last.load() == 0);
    CHECK(job.segment->markers(1).total.load() == 0);
    CHECK(job.of_task("2", "1000").lights() == 100);
    CHECK(job.of_task("2", "8x").lights() == 100);
}

TEST_CASE("without a row markers go nowhere") {
    const Job job;
    const MarkerClient alone = job.client({});
    CHECK(alone.failure().empty());
    alone.mark(0, 0, "nobody sees this");
    alone.progress(1, 2);
    CHECK(job.client({{"MP_CHILD", "0"}}).failure().empty());
    const MarkerClient elsewhere = job.of_task("1");
    CHECK(elsewhere.failure().find("task 1") != std::string::npos);
    elsewhere.mark(0, 0, "nobody sees this");
    const MarkerClient gone =
        job.client({{"MP_CHILD", "0"}, {"MP_SEGMENT", job.directory + "/other"}});
    CHECK(gone.failure().find("other") != std::string::npos);
}

TEST_CASE("80 columns are kept of a text, in whole characters") {
    CHECK(kept_text("").empty());
    CHECK(kept_text("short") == "short");
    CHECK(kept_text(std::string(80, 'a')).size() == 80);
    CHECK(kept_text(std::string(81, 'a')).size() == 80);
    CHECK(kept_text(std::string(100'000, 'a')).size() == 80);
    const auto repeated = [](const char* character, int count) {
        std::string text;
        for (int i = 0; i < count; ++i) text += character;
        return text;
    };
    CHECK(kept_text(repeated("é", 200)) == repeated("é", 80));
    CHECK(kept_text(repeated("語", 200)) == repeated("語", 80));
    CHECK(kept_text(repeated("𝄞", 200)) == repeated("𝄞", 60));
    CHECK(kept_text("x" + repeated("𝄞", 200)) == "x" + repeated("𝄞", 59));
    CHECK(kept_text(std::string(1000, '\x80')).size() == kMarkerBytes);
    std::mt19937 random(3);
    for (int round = 0; round < 1000; ++round) {
        std::string text(random() % 600, ' ');
        for (char& c : text) c = static_cast<char>(random());
        const auto kept = kept_text(text);
        CHECK(kept.size() <= kMarkerBytes);
        CHECK(text.starts_with(kept));
    }
}

TEST_CASE("colours have names, and names colours") {
    CHECK(color_named("black") == 0);
    CHECK(color_named("white") == 99);
    CHECK(color_named("gray") == 100);
    CHECK_FALSE(color_named("pink"));
    CHECK_FALSE(color_named(""));
    for (std::size_t i = 0; i < kNamedColors.size(); ++i) {
        CHECK(color_named(kNamedColors[i].name) == kNamedColors[i].color);
        CHECK(nearest_name(kNamedColors[i].color) == i);
        CHECK(rgb_of(kNamedColors[i].color) == kNamedColors[i].rgb);
    }
    CHECK(nearest_name(102) == 9);
    for (int color = 0; color < kMarkerColors; ++color) {
        const Rgb rgb = rgb_of(color);
        CHECK((rgb.red >= 0 && rgb.red <= 255 && rgb.green >= 0 && rgb.green <= 255 &&
               rgb.blue >= 0 && rgb.blue <= 255));
    }
}
