// libpoe-recorder.so: the recorder as a library that the interposer loads. It links to the engine, so that marks
// and records of MPL and VT_trc.h in the same program go to the same trace.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <unistd.h>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "mpi/observe/recorder.hpp"
#include "tracer/probe/process_context.hpp"

namespace poe::observe {
namespace {

// Exists as long as the process.
Recorder* the_recorder = nullptr;

void before(PoeObservedCall* call) {
    the_recorder->before(*call);
}

void after(PoeObservedCall* call, int result) {
    the_recorder->after(*call, result);
}

// Which calls the recorder looks at: all that have a shape.
const unsigned char* looked_at() {
    static unsigned char table[kNumbers];
    for (std::uint32_t i = 0; i < kNumbers; ++i) table[i] = shape_of(kFirstNumber + i) != nullptr;
    return table;
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
    // A world of another size is a job within the task, which another launcher has started, or every
    // task is alone.
    const int size = library->size(library->comm_world);
    const int rank = library->rank(library->comm_world);
    const bool whole_job = size == static_cast<int>(segment->tasks()) && rank == *task;
    if (!whole_job && size != 1) return nullptr;
    TaskSlot& slot = segment->slot(*index);
    std::uint32_t nobody = 0;
    if (!slot.attached.compare_exchange_strong(nobody, kObserved)) return nullptr;
    slot.pid = ::getpid();
    const std::string segment_path = path;
    process_context().tracer.attach(slot.tracing, segment_path.substr(0, segment_path.rfind('/')),
                                    *task);
    the_recorder = new Recorder(*library, slot, whole_job ? -1 : *task);
    static const PoeRecorder functions{before, after, looked_at()};
    return &functions;
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
