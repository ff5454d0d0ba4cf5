// Measures searches in a trace of make_trace: search_trace FILE. Prints the milliseconds, one
// number a line, of a search for what is nowhere, backwards from the end and forwards from the
// begin; of one for a marker at the other end; and of the jump to the task's marker before.
#include <chrono>
#include <cstdio>

#include "tracer/playback/search.hpp"

using namespace poe::trace;

namespace {

template <typename Work>
void measure(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::printf("%.3f\n", took.count());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: search_trace FILE\n");
        return 2;
    }
    const std::string path = argv[1];
    TraceSource source = TraceSource::open(path);
    const Index::Places places = index_places(path, "", source.identity());
    Session session(std::move(source), places, [](double) {});
    const Stretch whole = session.whole();
    const auto search = [&](const char* text, bool forward) {
        measure([&] {
            const auto wanted = Search::parse(text);
            wanted.value().find(session, forward ? whole.from - Time{1} : whole.to + Time{1},
                                forward);
        });
    };
    search("dur>1s", false);
    search("dur>1s", true);
    search("marker task=0", false);
    measure([&] {
        session.find(
            whole.to, false,
            [](const Event& event, poe::TaskId task) {
                return task == 0 && event.record.kind == Kind::kMarker;
            },
            [](const Ended& sums) {
                const auto known = sums.events.find(0);
                return known != sums.events.end() && known->second.markers > 0;
            });
    });
    return 0;
}
