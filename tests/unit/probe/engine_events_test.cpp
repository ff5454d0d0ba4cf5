// The hook for events: who gets them, and what reaches them.
#include "tracer/probe/engine_events.hpp"

#include <bit>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe;

namespace {

struct Raised {
    EngineEvent event;
    std::vector<EventWord> elements;
};
std::vector<Raised> raised;

void listen(EngineEvent event, std::span<const EventWord> elements) noexcept {
    raised.push_back({event, {elements.begin(), elements.end()}});
}

}  // namespace

TEST_CASE("only wanted events reach the listener", "[engine_events]") {
    raised.clear();
    EngineEvents events;
    events.raise(EngineEvent::kUnexpectedArrived, 1);
    REQUIRE(raised.empty());
    events.want(EngineEvent::kUnexpectedArrived, true, listen);
    REQUIRE(events.is_wanted(EngineEvent::kUnexpectedArrived));
    REQUIRE_FALSE(events.is_wanted(EngineEvent::kErrorRaised));
    events.raise(EngineEvent::kErrorRaised, 1);
    REQUIRE(raised.empty());
    events.raise(EngineEvent::kUnexpectedArrived, 2, 3);
    REQUIRE(raised.size() == 1);
    REQUIRE(raised[0].event == EngineEvent::kUnexpectedArrived);
    REQUIRE(raised[0].elements == std::vector<EventWord>{2, 3});
    events.want(EngineEvent::kErrorRaised, true, listen);
    events.want(EngineEvent::kUnexpectedArrived, false, listen);
    events.raise(EngineEvent::kUnexpectedArrived, 4);
    REQUIRE(raised.size() == 1);
    REQUIRE(events.is_wanted(EngineEvent::kErrorRaised));
}

TEST_CASE("elements of an event keep their values", "[engine_events]") {
    raised.clear();
    EngineEvents events;
    events.want(EngineEvent::kAlgorithmChosen, true, listen);
    const char* const text = "binomial";
    events.raise(EngineEvent::kAlgorithmChosen, text, -3, 2.5, std::uint64_t{1} << 40, true);
    REQUIRE(raised.size() == 1);
    const std::vector<EventWord>& words = raised[0].elements;
    REQUIRE(words.size() == 5);
    REQUIRE(reinterpret_cast<const char*>(words[0]) == text);
    REQUIRE(static_cast<std::int32_t>(words[1]) == -3);
    REQUIRE(std::bit_cast<double>(words[2]) == 2.5);
    REQUIRE(words[3] == std::uint64_t{1} << 40);
    REQUIRE(words[4] == 1);
}
