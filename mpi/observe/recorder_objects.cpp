// The calls for windows and files. Each of these objects has the tasks of its communicator, and
// operations that are counted apart from those of the communicator. See recorder.hpp.
#include <algorithm>

#include "mpi/observe/recorder_calls.hpp"

namespace poe::observe {

void Recorder::describe_object(const PoeObservedCall& call, const CallShape& shape,
                               CallNotes& notes) {
    // A call that makes the object is one of its communicator, and has found that already.
    if (shape.action != Action::kMakeWindow && shape.action != Action::kOpenFile)
        find_object(call, shape, notes);
    if (notes.comm == nullptr || notes.comm->inter) return;
    switch (shape.action) {
        case Action::kMakeWindow:
        case Action::kFreeWindow:
        case Action::kFence:
        case Action::kOpenFile:
        case Action::kCloseFile:
        case Action::kCollectiveFile:
            notes.collective = true;
            break;
        default:
            break;
    }
}

void Recorder::find_object(const PoeObservedCall& call, const CallShape& shape, CallNotes& notes) {
    const bool freed = shape.action == Action::kFreeWindow || shape.action == Action::kCloseFile;
    Communicator** found = nullptr;
    if (shape.window >= 0)
        found = windows_.find(freed ? notes.handle
                                    : library_.handle(call.arguments.words[shape.window]));
    else if (shape.file >= 0)
        found = files_.find(freed ? notes.handle
                                  : ForeignLibrary::file_handle(call.arguments.words[shape.file]));
    if (found != nullptr) notes.comm = *found;
}

// What the call waits for. Each task that is to be awaited has an own line of messages: a task that
// opens its window for others has sent one to each of them, and so has one that ends its access.
// Locks are not noted, because a library may take a lock long after MPI_Win_lock has returned, so
// it is not known which task has it.
void Recorder::note_object_needs(const PoeObservedCall& call, const CallShape& shape,
                                 CallNotes& notes) {
    using Kind = ObservedNeed::Kind;
    Communicator* const comm = notes.comm;
    if (comm == nullptr || comm->inter) return;
    switch (shape.action) {
        case Action::kMakeWindow:
        case Action::kFreeWindow:
        case Action::kFence:
            note_need({Kind::kOperation, -1, -1, comm->context, notes.number});
            break;
        case Action::kOpenFile:
        case Action::kCloseFile:
        case Action::kCollectiveFile:
            note_need({Kind::kFileOperation, -1, -1, comm->context, notes.number});
            break;
        case Action::kStartCollectiveFile:
            ++comm->operations;
            break;
        case Action::kEndCollectiveFile:
            // No other collective operation of the file may be between the beginning and the end of
            // this one.
            if (comm->operations > 0)
                note_need({Kind::kFileOperation, -1, -1, comm->context, comm->operations - 1});
            break;
        case Action::kPostEpoch:
            begin_epoch(*comm, library_.handle(call.arguments.words[shape.group]), false);
            break;
        case Action::kStartEpoch:
            begin_epoch(*comm, library_.handle(call.arguments.words[shape.group]), true);
            note_epoch(comm->access);
            break;
        case Action::kCompleteEpoch:
            for (const ObservedNeed& target : comm->access) {
                const std::uint32_t number =
                    sends_.next({comm->context, target.peer, ObservedNeed::kAccessEnds});
                if (tracer().on())
                    tracer().sent(trace::kCollectiveMessages, target.peer,
                                  ObservedNeed::kAccessEnds, 0, number, {.context = comm->context});
            }
            note_epoch(comm->access);
            break;
        case Action::kWaitEpoch:
            if (shape.flag < 0) note_epoch(comm->exposure);
            break;
        default:
            break;
    }
}

// An epoch of access waits for the tasks of the group to open their windows, one of exposure for
// the end of their access.
void Recorder::begin_epoch(Communicator& window, Word group, bool access) {
    std::vector<ObservedNeed>& epoch = access ? window.access : window.exposure;
    const std::int32_t tag = access ? ObservedNeed::kWindowOpens : ObservedNeed::kAccessEnds;
    epoch.clear();
    if (comms_.is_alone()) return;
    for (const TaskId task : library_.ranks_of_group(group)) {
        if (task < 0) continue;
        if (!access) sends_.next({window.context, task, ObservedNeed::kWindowOpens});
        epoch.push_back({ObservedNeed::Kind::kMessage, task, tag, window.context,
                         receives_.next({window.context, task, tag})});
    }
}

// All needs of the epoch.
void Recorder::note_epoch(const std::vector<ObservedNeed>& epoch) {
    wait_->one_suffices = 0;
    wait_->needs_count = epoch.size();
    if (epoch.size() > ObservedWait::kMostNeeds) return;
    std::copy(epoch.begin(), epoch.end(), wait_->needs.begin());
}

// What a new window or file of this communicator is to the observer.
Communicator* Recorder::made_of(const Communicator& parent, const char* kind) {
    Communicator* const made = comms_.derived(parent, kind);
    tracer().name_context(made->context, made->name);
    return made;
}

void Recorder::take_effect_on_object(const PoeObservedCall& call, const CallShape& shape,
                                     const CallNotes& notes) {
    switch (shape.action) {
        case Action::kMakeWindow: {
            if (notes.comm == nullptr) break;
            const Word window = library_.handle_at(pointer(call, shape.window));
            windows_.remove(window);
            windows_.add(window, made_of(*notes.comm, "window"));
            break;
        }
        case Action::kOpenFile: {
            if (notes.comm == nullptr) break;
            const Word file = ForeignLibrary::file_handle_at(pointer(call, shape.file));
            files_.remove(file);
            files_.add(file, made_of(*notes.comm, "file"));
            break;
        }
        case Action::kFreeWindow:
            windows_.remove(notes.handle);
            break;
        case Action::kWaitEpoch:
            // Unless MPI_Win_test says otherwise, every origin has now called MPI_Win_complete,
            // where it has recorded its message. MPI_Win_start and MPI_Win_complete may return
            // before a target opens its window, so nothing is recorded of messages that open
            // windows.
            if (notes.comm == nullptr || !is_true(call, shape.flag) || !tracer().on()) break;
            for (const ObservedNeed& origin : notes.comm->exposure)
                tracer().received(trace::kCollectiveMessages, origin.peer,
                                  ObservedNeed::kAccessEnds, 0, origin.number,
                                  {.context = notes.comm->context});
            break;
        case Action::kCloseFile:
            files_.remove(notes.handle);
            break;
        case Action::kRenameWindow: {
            const Word window = library_.handle(call.arguments.words[shape.window]);
            Communicator** const known = windows_.find(window);
            if (known == nullptr) break;
            const std::string name = library_.window_name(window);
            (*known)->name = "window " + (name.empty() ? "without a name" : name);
            tracer().name_context((*known)->context, (*known)->name);
            shown_comm_ = nullptr;
            break;
        }
        default:
            break;
    }
}

}  // namespace poe::observe
