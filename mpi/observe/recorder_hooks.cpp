// A pair of functions for each function of MPI: those of the recorder, compiled for its shape. And
// the start of the recorder, the only name that libpoe-recorder.so exports. The library links to
// the engine, so marks and records of MPL and VT_trc.h in the same program go to the same trace.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <unistd.h>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "mpi/observe/recorder_calls.hpp"

namespace poe::observe {
namespace {

// Exists as long as the process.
Recorder* the_recorder = nullptr;

template <CallShape shape>
void before(PoeObservedCall* call) {
    the_recorder->before(*call, shape);
}

template <CallShape shape>
void after(PoeObservedCall* call, int result) {
    the_recorder->after(*call, shape, result);
}

const PoeRecorder& all_hooks() {
    static PoeRecorder recorder;
#define SHAPE(number, ...)                                                   \
    recorder.hooks[(number)-kFirstNumber] = {before<CallShape{__VA_ARGS__}>, \
                                             after<CallShape{__VA_ARGS__}>};
#include "mpi/observe/shapes.inc"
#undef SHAPE
    return recorder;
}

void say(const std::string& why) {
    const std::string text = "ATTENTION: poe does not observe the MPI calls of process " +
                             std::to_string(::getpid()) + ": " + why + ".\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
}

const PoeRecorder* start(const PoeInterposer& interposer) {
    // POE's own library shows its calls itself.
    if (process_context().runtime != nullptr) return nullptr;
    const char* path = std::getenv("MP_SEGMENT");
    const char* child = std::getenv("MP_CHILD");
    const auto task = child == nullptr ? std::nullopt : parse_number<TaskId>(child);
    if (path == nullptr || !task) return nullptr;
    const auto library = ForeignLibrary::recognize(interposer.find);
    if (!library) throw Error("its MPI library is not known");
    auto* segment = new NodeSegment(NodeSegment::attach(path));
    const auto index = segment->local_index(*task);
    if (!index) return nullptr;
    // A world of another size is a job within the task, which another launcher has started. Or
    // every task is alone.
    const int size = library->size(library->comm_world);
    const int rank = library->rank(library->comm_world);
    const bool whole_job = size == static_cast<int>(segment->tasks()) && rank == *task;
    if (!whole_job && size != 1) return nullptr;
    TaskSlot& slot = segment->slot(*index);
    std::uint32_t before = kNotAttached;
    if (!slot.attached.compare_exchange_strong(before, kObserved)) {
        // A script may have run another program before this one.
        const bool has_ended = before == kObserved && ::kill(slot.pid, 0) != 0;
        if (!has_ended) return nullptr;
    }
    slot.pid = ::getpid();
    const std::string segment_path = path;
    process_context().tracer.attach(slot.tracing, segment_path.substr(0, segment_path.rfind('/')),
                                    *task);
    the_recorder = new Recorder(*library, slot, whole_job ? -1 : *task,
                                {interposer.library_threads, interposer.library_threads_count});
    return &all_hooks();
}

}  // namespace
}  // namespace poe::observe

extern "C" __attribute__((visibility("default"))) const PoeRecorder* poe_start_recorder(
    const PoeInterposer* interposer) {
    try {
        return poe::observe::start(*interposer);
    } catch (const std::exception& error) {
        poe::observe::say(error.what());
        return nullptr;
    }
}
