// Data accesses to files; see file_call.hpp.
#include "mpi/api/file_call.hpp"

#include <memory>
#include <string>
#include <utility>

#include "mpi/api/checked_call.hpp"
#include "mpi/api/point_call.hpp"
#include "mpi/api/request_call.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/file/collective_transfer.hpp"
#include "mpi/file/opening.hpp"
#include "mpi/file/program_data.hpp"
#include "mpi/file/shared_pointer.hpp"
#include "mpi/file/threads.hpp"
#include "mpi/object/status.hpp"
#include "mpi/point/completion.hpp"
#include "mpi/point/waiting.hpp"
#include "mpi/point/works.hpp"

namespace poe::mpi {
namespace {

// A data access whose arguments are resolved.
struct ResolvedAccess {
    File* file = nullptr;
    Datatype* type = nullptr;
    std::int64_t etypes = 0;
    Bytes position = 0;
    ProgramData data;
};

// An access that has ended before its request was made.
class EndedAccess final : public Work {
  public:
    EndedAccess(File& file, Bytes moved) : file_(file), moved_(moved) {}
    void start(comm::MessageLayer&) override {}
    bool advance(comm::MessageLayer&) override { return true; }
    Bytes moved() const noexcept override { return moved_; }
    MPI_File file() const noexcept override { return handle_of(file_); }

  private:
    File& file_;
    Bytes moved_;
};

// An access of this task alone that does not block. With several threads, a thread of the library
// makes it as a whole. Otherwise it moves its data in steps: each poll of the message layer is one,
// in waits, in tests and by the progress thread. If the layer polls something that has moved, no
// wait sleeps.
class AccessInSteps final : public Work, public comm::OtherInput {
  public:
    AccessInSteps(comm::Runtime& runtime, File& file, FileAccess access, Bytes position,
                  ProgramData data)
        : messages_(runtime.messages()),
          in_steps_(!runtime.turn().shared()),
          system_(runtime, false),
          file_(file),
          view_(file.view),
          data_(std::move(data)),
          memory_(data_.memory()),
          transfer_(file, view_->stream, access, position, memory_) {}
    ~AccessInSteps() override { messages_.remove_input(*this); }
    void start(comm::MessageLayer&) override {
        if (in_steps_) return messages_.add_input(*this);
        system_.start([this] { transfer_.step(data_.bytes()); });
    }
    bool advance(comm::MessageLayer&) override {
        if (!over_ && !in_steps_ && system_.over()) end();
        return over_;
    }
    bool poll() override {
        if (!transfer_.step(kStepBytes)) return true;
        messages_.remove_input(*this);
        end();
        return true;
    }
    Fault result() override { return fault_; }
    Bytes moved() const noexcept override { return moved_; }
    MPI_File file() const noexcept override { return handle_of(file_); }
    bool calls_program() const noexcept override { return false; }

  private:
    void end() {
        over_ = true;
        Transferred moved = transfer_.result();
        Transferred whole = data_.finish(moved.bytes);
        moved_ = whole.bytes;
        fault_ = moved.fault ? std::move(moved.fault) : std::move(whole.fault);
    }

    // Takes the system some hundredths of a millisecond, so messages do not wait long.
    static constexpr Bytes kStepBytes = Bytes{128} << 10;

    comm::MessageLayer& messages_;
    const bool in_steps_;
    SystemCalls system_;
    File& file_;
    const std::shared_ptr<const View> view_;
    ProgramData data_;
    FileMemory memory_;
    Transfer transfer_;
    bool over_ = false;
    Bytes moved_ = 0;
    Fault fault_;
};

// Shorter accesses are over before another thread would begin them. In atomic mode a lock holds
// during the whole access, and data that the program converts need its functions.
constexpr Bytes kShortAccess = Bytes{256} << 10;
bool is_in_steps(const File& file, const ProgramData& data) noexcept {
    return data.bytes() > kShortAccess && !file.atomic && !data.converts();
}

CallAbout about_file(const File& file, Bytes bytes) noexcept {
    return {TaskActivity::kAnyPeer, TaskActivity::kNoType, bytes, file.comm->context, 0};
}

void store_status(MPI_Status* status, Bytes bytes) noexcept {
    if (status != nullptr)
        set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, static_cast<std::int64_t>(bytes));
}

// Where the parts of all members begin, in the order of their ranks.
Fault reserve_in_order(Call& call, File& file, std::int64_t etypes, std::int64_t& first) {
    if (file.size() == 1) return add_to_shared_pointer(call, file, etypes, first);
    const auto gather = [&](std::int64_t own, std::vector<std::int64_t>& all) {
        Words words(2);
        std::memcpy(words.data(), &own, sizeof own);
        Contributions gathered;
        if (Fault lost = gather_words(call.runtime(), *file.comm, words, gathered)) return lost;
        all.resize(static_cast<std::size_t>(file.size()));
        std::memcpy(all.data(), gathered.local.data(), all.size() * sizeof own);
        return Fault{};
    };
    std::vector<std::int64_t> counts;
    if (Fault fault = gather(etypes, counts)) return fault;
    std::int64_t before = 0;
    std::int64_t total = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        if (static_cast<int>(rank) < file.rank()) before += counts[rank];
        total += counts[rank];
    }
    std::int64_t begin = 0;
    Fault fault;
    if (file.rank() == 0) fault = add_to_shared_pointer(call, file, total, begin);
    std::vector<std::int64_t> begins;
    if (Fault lost = gather(begin, begins)) return lost;
    first = begins[0] + before;
    return fault;
}

bool check_mode(Call& call, const File& file, const DataAccess& what) {
    if (what.access == FileAccess::kRead && !file.readable()) {
        call.fail(MPI_ERR_ACCESS, "fh", "the file '" + file.name + "' was opened for writing only",
                  "open it with MPI_MODE_RDWR or MPI_MODE_RDONLY");
        return false;
    }
    if (what.access == FileAccess::kWrite && !file.writable()) {
        call.fail(MPI_ERR_READ_ONLY, "fh",
                  "the file '" + file.name + "' was opened for reading only",
                  "open it with MPI_MODE_RDWR or MPI_MODE_WRONLY");
        return false;
    }
    const bool by_shared =
        what.pointer == FilePointer::kShared || what.pointer == FilePointer::kOrdered;
    return by_shared || !refuse_sequential(call, file);
}

// Finds the position, which changes the shared file pointer.
bool find_position(Call& call, const DataAccess& what, ResolvedAccess& resolved) {
    File& file = *resolved.file;
    await_file(call.runtime(), file);
    std::int64_t offset = 0;
    Fault fault;
    switch (what.pointer) {
        case FilePointer::kIndividual:
            resolved.position = file.position;
            return true;
        case FilePointer::kExplicit:
            offset = what.offset;
            break;
        case FilePointer::kShared:
            fault = add_to_shared_pointer(call, file, resolved.etypes, offset);
            break;
        case FilePointer::kOrdered:
            fault = reserve_in_order(call, file, resolved.etypes, offset);
            break;
    }
    if (fault) {
        call.fail(fault);
        return false;
    }
    std::int64_t bytes = 0;
    if (offset < 0 || __builtin_mul_overflow(offset, file.view->etype_bytes, &bytes) ||
        static_cast<Bytes>(bytes) + resolved.data.bytes() > file.view->stream.layout.size()) {
        call.fail(MPI_ERR_ARG, "offset",
                  std::to_string(offset) + (offset < 0 ? " is negative" : " is too large"));
        return false;
    }
    resolved.position = static_cast<Bytes>(bytes);
    return true;
}

// Returns false after an error was reported. The data are converted here, by functions of the
// program if the representation has such functions.
bool resolve_access(Call& call, const DataAccess& what, ResolvedAccess& resolved) {
    File& file = *find_file(what.fh);
    resolved.file = &file;
    MessageArguments message;
    if (!check_mode(call, file, what) || !resolve_buffer(call, what.buf, what.count, what.datatype,
                                                         message, {"buf", "datatype", "", ""}))
        return false;
    resolved.type = message.type;
    const Fault fault = call.outside([&] {
        return resolved.data.define(file, what.access, const_cast<void*>(what.buf), what.count,
                                    *message.type);
    });
    if (fault) {
        call.fail(fault);
        return false;
    }
    const auto bytes = static_cast<std::int64_t>(resolved.data.bytes());
    if (bytes % file.view->etype_bytes != 0) {
        call.fail(MPI_ERR_IO, "count",
                  std::to_string(bytes) + " bytes are no multiple of the " +
                      std::to_string(file.view->etype_bytes) + " bytes of the view's etype",
                  "access whole etypes");
        return false;
    }
    resolved.etypes = bytes / file.view->etype_bytes;
    return find_position(call, what, resolved);
}

// After `moved` bytes of the stream have moved.
void advance_pointer(const DataAccess& what, File& file, Bytes position, Bytes moved) noexcept {
    if (what.pointer != FilePointer::kIndividual) return;
    file.position = position + moved - moved % static_cast<Bytes>(file.view->etype_bytes);
}

// Moves the data of this task alone. The result is in bytes of the program's datatype.
Transferred move_own(Call& call, const DataAccess& what, ResolvedAccess& resolved) {
    File& file = *resolved.file;
    const FileMemory memory = resolved.data.memory();
    Transfer transfer(file, file.view->stream, what.access, resolved.position, memory);
    Transferred moved;
    use_file(call.runtime(), file, [&] { moved = transfer.all(); });
    advance_pointer(what, file, resolved.position, moved.bytes);
    Transferred whole = call.outside([&] { return resolved.data.finish(moved.bytes); });
    if (moved.fault) whole.fault = std::move(moved.fault);
    return whole;
}

// The request of a collective access. Null after an error was reported.
Request* make_access(Call& call, const DataAccess& what, ResolvedAccess& resolved, bool blocks) {
    File& file = *find_file(what.fh);
    if (refuse_split(call, file) || !resolve_access(call, what, resolved)) return nullptr;
    const Bytes bytes = resolved.data.bytes();
    Request& request = make_work(
        call.runtime(),
        std::make_unique<CollectiveTransfer>(call.runtime(), file, what.access, resolved.position,
                                             std::move(resolved.data), blocks),
        file.comm, false);
    advance_pointer(what, file, resolved.position, bytes);
    return &request;
}

// Blocks until a collective access has ended, and frees its request.
int wait_for_access(Call& call, const DataAccess& what, Bytes position, File& file,
                    Request& request, MPI_Status* status) {
    auto& work = static_cast<CollectiveTransfer&>(*request.work);
    comm::MessageLayer& messages = call.runtime().messages();
    while (!has_ended(request)) {
        if (work.system_calls().is_due()) work.system_calls().run();
        wait_until(
            call.runtime(),
            [&] {
                advance_work(messages, request);
                return has_ended(request) || work.system_calls().is_due();
            },
            [&] { return work.awaited(messages); });
    }
    if (what.access == FileAccess::kRead)
        advance_pointer(what, file, position, work.stream_bytes());
    store_status(status, work.moved());
    const Fault fault = fault_of_request(call.runtime(), request);
    MPI_Request handle = handle_of(request);
    retire(handle, request);
    return call.finish(fault);
}

}  // namespace

bool refuse_sequential(Call& call, const File& file) {
    if (!file.sequential()) return false;
    call.fail(MPI_ERR_UNSUPPORTED_OPERATION, "fh",
              "the file '" + file.name + "' was opened with MPI_MODE_SEQUENTIAL",
              "use the shared file pointer only, or open the file without this mode");
    return true;
}

bool refuse_split(Call& call, const File& file) {
    if (file.split == nullptr) return false;
    call.fail(MPI_ERR_OTHER, "fh",
              std::string(file.split_name) + "_begin has begun a split collective call",
              std::string("call ") + file.split_name + "_end first");
    return true;
}

Fault add_to_shared_pointer(Call& call, File& file, std::int64_t etypes, std::int64_t& before) {
    if (file.shared != nullptr) return file.shared->add(call.runtime(), etypes, before);
    before = std::exchange(file.own_pointer, file.own_pointer + etypes);
    return {};
}

int access_file(Call& call, const DataAccess& what, MPI_Status* status) {
    ResolvedAccess resolved;
    if (!resolve_access(call, what, resolved)) return call.code();
    const VisibleCall visible(call, about_file(*resolved.file, resolved.data.bytes()));
    Transferred moved = move_own(call, what, resolved);
    store_status(status, moved.bytes);
    return call.finish(moved.fault);
}

int start_access_file(Call& call, const DataAccess& what, MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    ResolvedAccess resolved;
    if (!resolve_access(call, what, resolved)) return call.code();
    const Noted noted(call, about_file(*resolved.file, resolved.data.bytes()));
    File& file = *resolved.file;
    const Bytes requested = resolved.data.bytes();
    if (is_in_steps(file, resolved.data)) {
        advance_pointer(what, file, resolved.position, requested);
        *request = handle_of(
            make_work(call.runtime(),
                      std::make_unique<AccessInSteps>(call.runtime(), file, what.access,
                                                      resolved.position, std::move(resolved.data)),
                      file.comm, false));
        return MPI_SUCCESS;
    }
    const Transferred moved = move_own(call, what, resolved);
    if (moved.fault) return call.fail(moved.fault);
    advance_pointer(what, file, resolved.position, requested);
    *request = handle_of(make_work(call.runtime(), std::make_unique<EndedAccess>(file, moved.bytes),
                                   file.comm, false));
    return MPI_SUCCESS;
}

int access_file_all(Call& call, const DataAccess& what, MPI_Status* status) {
    File& file = *find_file(what.fh);
    VisibleCollective visible(call, *file.comm);
    if (const int code = agree(call, *file.comm)) return code;
    ResolvedAccess resolved;
    Request* const request = make_access(call, what, resolved, true);
    if (request == nullptr) return call.code();
    return wait_for_access(call, what, resolved.position, file, *request, status);
}

int start_access_file_all(Call& call, const DataAccess& what, MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    File& file = *find_file(what.fh);
    Noted noted(call, about_all_of(*file.comm));
    const std::uint32_t operation = note_start(noted, *file.comm);
    ResolvedAccess resolved;
    Request* const made = make_access(call, what, resolved, false);
    if (made == nullptr) return call.code();
    made->operation = operation;
    *request = handle_of(*made);
    return MPI_SUCCESS;
}

int begin_access_file(Call& call, const DataAccess& what, const char* name) {
    File& file = *find_file(what.fh);
    Noted noted(call, about_all_of(*file.comm));
    const std::uint32_t operation = note_start(noted, *file.comm);
    ResolvedAccess resolved;
    Request* const made = make_access(call, what, resolved, false);
    if (made == nullptr) return call.code();
    made->operation = operation;
    file.split = made;
    file.split_name = name;
    file.split_buffer = what.buf;
    file.split_position = resolved.position;
    file.split_individual = what.pointer == FilePointer::kIndividual;
    file.split_reads = what.access == FileAccess::kRead;
    return MPI_SUCCESS;
}

int end_access_file(Call& call, MPI_File fh, const void* buf, const char* name,
                    MPI_Status* status) {
    File& file = *find_file(fh);
    if (file.split == nullptr || std::string_view(file.split_name) != name)
        return call.fail(MPI_ERR_OTHER, "fh",
                         std::string(name) + "_begin has not begun a split collective call",
                         "call the _begin and _end functions in pairs");
    if (buf != file.split_buffer)
        return call.fail(MPI_ERR_BUFFER, "buf", "it is another buffer than at the beginning", "");
    Noted noted(call, about_all_of(*file.comm));
    note_end(noted, *file.split);
    const Shown shown(call, about_all_of(*file.comm));
    DataAccess what;
    what.access = file.split_reads ? FileAccess::kRead : FileAccess::kWrite;
    what.pointer = file.split_individual ? FilePointer::kIndividual : FilePointer::kExplicit;
    return wait_for_access(call, what, file.split_position, file,
                           *std::exchange(file.split, nullptr), status);
}

}  // namespace poe::mpi
