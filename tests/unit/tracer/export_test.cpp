// Exports, read back.
#include "tracer/exchange/export.hpp"

#include <map>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/tracer/trace_maker.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;
using std::chrono::microseconds;

namespace {

using MakeSink = std::unique_ptr<ExportSink> (*)(std::ostream&);

std::string exported(MakeSink make, const ExportRange& range) {
    const TraceSource source = small_trace();
    std::ostringstream out;
    export_trace(source, range, *make(out), [](double) {});
    return out.str();
}

const ExportRange kAll{{Time{0}, microseconds(1000)}, std::nullopt};

// Fields of a message of protocol buffers: numbers, and bytes of those that have parts.
std::multimap<std::uint64_t, std::string> fields_of(const std::string& bytes) {
    std::multimap<std::uint64_t, std::string> fields;
    std::size_t at = 0;
    const auto number = [&] {
        std::uint64_t value = 0;
        for (unsigned shift = 0; at < bytes.size(); shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes[at++]);
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) break;
        }
        return value;
    };
    while (at < bytes.size()) {
        const std::uint64_t key = number();
        const std::uint64_t kind = key & 7;
        REQUIRE((kind == 0 || kind == 1 || kind == 2));
        if (kind == 0) {
            fields.emplace(key >> 3, std::to_string(number()));
            continue;
        }
        const std::size_t size = kind == 1 ? 8 : static_cast<std::size_t>(number());
        REQUIRE(size <= bytes.size() - at);
        fields.emplace(key >> 3, bytes.substr(at, size));
        at += size;
    }
    return fields;
}

}  // namespace

TEST_CASE("CSV has a line for each call, message, marker and value") {
    const std::string text = exported(csv_sink, kAll);
    const auto count = [&](const std::string& what) {
        std::size_t lines = 0;
        for (std::size_t at = text.find("\n" + what); at != std::string::npos;
             at = text.find("\n" + what, at + 1))
            ++lines;
        return lines;
    };
    CHECK(count("call,") == 8);
    CHECK(count("region,") == 1);
    CHECK(count("message,") == 2);
    CHECK(count("marker,") == 4);
    CHECK(count("counter,") == 4);
    CHECK(text.find("call,1,0,0.000100000,0.000500000,mpc_brecv,,,\n") != std::string::npos);
    CHECK(text.find("message,2,3,0.000100000,0.000400000,,5,100000,\n") != std::string::npos);
}

TEST_CASE("statistics of tasks are counters of theirs") {
    StreamFacts facts;
    facts.kind = StreamKind::kNode;
    facts.origin = facts.wall = kOrigin;
    StreamWriter node(facts);
    node.put(us(100), {.kind = Kind::kSystem, .detail = 1, .a = 2, .b = 1'500'000'000});
    node.put(us(100), {.kind = Kind::kSystem, .detail = 7, .a = 3, .b = 4096});
    node.put(us(100), {.kind = Kind::kSystem, .detail = 1, .a = kNobody, .b = 1});
    node.put(us(100), {.kind = Kind::kSystem, .detail = 99, .a = 1, .b = 1});
    const TraceSource source =
        TraceSource::from_bytes(gathered(small_streams()) + node.bytes(), "with a node");
    std::ostringstream out;
    export_trace(source, kAll, *csv_sink(out), [](double) {});
    const std::string text = out.str();
    CHECK(text.find("counter,2,,0.000100000,,cpu user (s),,,1.5\n") != std::string::npos);
    CHECK(text.find("counter,3,,0.000100000,,memory,,,4096\n") != std::string::npos);
    CHECK(text.find("cpu user", text.find("cpu user") + 1) == std::string::npos);
    CHECK(text.find("?") == std::string::npos);
}

TEST_CASE("a range cuts calls, and leaves other tasks out") {
    const std::string text =
        exported(csv_sink, {{microseconds(200), microseconds(300)}, std::set<TaskId>{1, 2}});
    CHECK(text.find("call,1,0,0.000200000,0.000300000,mpc_brecv") != std::string::npos);
    CHECK(text.find("call,2,3,0.000200000,0.000300000,mpc_bsend") != std::string::npos);
    CHECK(text.find("\ncall,0") == std::string::npos);
    CHECK(text.find("message") == std::string::npos);
}

TEST_CASE("Chrome's JSON: each begin has its end, each message two places") {
    const auto json = nlohmann::json::parse(exported(chrome_sink, kAll));
    std::map<int, int> depth;
    std::map<std::string, int> kinds;
    for (const auto& event : json["traceEvents"]) {
        const std::string kind = event["ph"];
        ++kinds[kind];
        if (kind == "B") ++depth[event["tid"].get<int>()];
        if (kind == "E") CHECK(--depth[event["tid"].get<int>()] >= 0);
    }
    for (const auto& [task, left] : depth) CHECK(left == 0);
    CHECK(kinds["B"] == 9);
    CHECK(kinds["s"] == 2);
    CHECK(kinds["f"] == 2);
    CHECK(kinds["i"] == 4);
    CHECK(kinds["C"] == 4);
}

TEST_CASE("Perfetto's packets, decoded") {
    const auto packets = fields_of(exported(perfetto_sink, kAll));
    std::size_t tracks = 0, begins = 0, ends = 0, flows = 0, values = 0;
    for (const auto& [field, bytes] : packets) {
        REQUIRE(field == 1);
        const auto packet = fields_of(bytes);
        if (packet.count(60) > 0) {
            ++tracks;
            continue;
        }
        REQUIRE(packet.count(8) == 1);
        const auto event = fields_of(packet.find(11)->second);
        const std::string type = event.find(9)->second;
        begins += type == "1" ? 1 : 0;
        ends += type == "2" ? 1 : 0;
        values += type == "4" ? 1 : 0;
        flows += event.count(47) + event.count(48);
    }
    CHECK(tracks == 1 + 4 + 4);  // a node, the tasks, their counters
    CHECK(begins == 9);
    CHECK(ends == 9);
    CHECK(flows == 4);
    CHECK(values == 4);
}
