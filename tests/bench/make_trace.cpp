// Makes a large trace to measure reading with: make_trace FILE TASKS RECORDS. Neighbours exchange
// messages, all meet now and then, task 0 sets a marker at the begin; records are those of all
// tasks together.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/unit/tracer/trace_maker.hpp"

using namespace poe;
using namespace poe::trace;
using namespace poe::trace::test;

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: make_trace FILE TASKS RECORDS\n");
        return 2;
    }
    const auto tasks = static_cast<TaskId>(std::strtol(argv[2], nullptr, 10));
    const std::uint64_t each =
        std::strtoull(argv[3], nullptr, 10) / static_cast<std::uint64_t>(tasks);
    std::ofstream out(argv[1], std::ios::binary);
    out << job_bytes(tasks);
    for (TaskId task = 0; task < tasks; ++task) {
        StreamWriter stream = task_stream(task, tasks);
        std::uint64_t now = 10;
        // What a search from the end has to go back to.
        if (task == 0)
            stream.put(us(now), {.kind = Kind::kMarker, .detail = 0, .extra = 1, .a = 5}, "begin");
        std::uint16_t round = 0;
        while (stream.records() + 30 < each) {
            const std::uint64_t work = 20 + static_cast<std::uint64_t>(task * 7 + round) % 40;
            send_call(stream, now + work, now + work + 4, (task + 1) % tasks, 8000);
            receive_call(stream, now + work + 5, now + 70, (task + tasks - 1) % tasks, 8000);
            now += 100;
            if (++round % 10 == 0) {
                sync_call(stream, now + work, now + 80, round);
                now += 100;
            }
        }
        out << stream.bytes();
    }
    return out.good() ? 0 : 1;
}
