// Collective data accesses; see collective_transfer.hpp.
#include "mpi/file/collective_transfer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "collectives/engine/process_collectives.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// Members whose pieces are at least this long read and write them themselves.
constexpr std::int64_t kLongPieces = std::int64_t{64} << 10;
// If the whole span has more bytes than this for each byte of data, windows would be nearly empty.
constexpr std::int64_t kMostSparse = 64;
// A window that is longer is released after the access. The default length of a window.
constexpr Bytes kKeptWindow = Bytes{4} << 20;
// The source of marks is this long.
constexpr Bytes kMarks = Bytes{64} << 10;

Choice choice_of(const File& file, FileAccess access) noexcept {
    return access == FileAccess::kRead ? file.hints.exchange_reads : file.hints.exchange_writes;
}

// In check mode the types of messages are the numbers of agreements, of which a file has none.
std::int32_t next_type(File& file) {
    if (environment().checking) ++file.comm->agreements;
    return static_cast<std::int32_t>(file.collective_calls++ & 0x7fffffffu);
}

}  // namespace

CollectiveTransfer::CollectiveTransfer(comm::Runtime& runtime, File& file, FileAccess access,
                                       Bytes position, ProgramData data, bool blocks)
    : runtime_(runtime),
      file_(file),
      view_(file.view),
      member_views_(file.member_views),
      access_(access),
      position_(position),
      data_(std::move(data)),
      memory_(data_.memory()),
      calls_program_(file.view->representation->calls_program()),
      type_(next_type(file)),
      system_(runtime, blocks) {}

CollectiveTransfer::Span CollectiveTransfer::own_span() const {
    const Stream& stream = view_->stream;
    Span span;
    span.position = static_cast<std::int64_t>(position_);
    span.bytes = static_cast<std::int64_t>(memory_.layout.size());
    const bool possible = stream.ordered && !file_.atomic && !file_.sequential();
    span.choice = possible ? choice_of(file_, access_) : Choice::kDisable;
    if (span.bytes == 0) return span;
    Bytes length = 0;
    span.first = stream.place(position_, length);
    span.piece = static_cast<std::int64_t>(std::min(length, memory_.layout.size()));
    span.end = stream.place(position_ + memory_.layout.size() - 1) + 1;
    return span;
}

RecordingPtr CollectiveTransfer::gather(const void* own, void* all, Bytes bytes) const {
    Sequence made(collectives::the_collectives(runtime_), *file_.comm, Sequence::Form::kOnce);
    made.collective(::poe::Call::kConcat, shape_of(collectives::Operation::kConcat, bytes),
                    static_cast<const std::byte*>(own), static_cast<std::byte*>(all));
    return made.recording();
}

void CollectiveTransfer::start(comm::MessageLayer& messages) {
    spans_.own = own_span();
    spans_.all.resize(static_cast<std::size_t>(file_.size()));
    verdicts_.all.resize(spans_.all.size());
    if (file_.size() == 1) {
        spans_.all[0] = spans_.own;
        return;
    }
    spans_.exchange = gather(&spans_.own, spans_.all.data(), sizeof(Span));
    verdicts_.exchange = gather(&verdicts_.own, verdicts_.all.data(), sizeof(Verdict));
    spans_.exchange->start(messages);
}

bool CollectiveTransfer::advance(comm::MessageLayer& messages) {
    for (;;) {
        switch (state_) {
            case State::kSpans:
                if (spans_.exchange != nullptr && !spans_.exchange->advance(messages)) return false;
                if (spans_.exchange != nullptr && !spans_.exchange->succeeded()) {
                    fault_ = spans_.exchange->fault();
                    state_ = State::kEnded;
                    break;
                }
                if (exchanges()) {
                    begin_windows();
                    begin_round(messages);
                } else {
                    begin_own();
                }
                break;
            case State::kOwn:
                if (!system_.over()) return false;
                end_own();
                break;
            case State::kReading:
                if (!system_.over()) return false;
                send_window(messages);
                state_ = State::kRound;
                break;
            case State::kRound:
                if (!round_ended(messages)) return false;
                end_round();
                if (state_ == State::kRound) next_round(messages);
                break;
            case State::kWriting:
                if (!system_.over()) return false;
                next_round(messages);
                break;
            case State::kVerdict:
                if (!verdicts_.exchange->advance(messages)) return false;
                end_verdict();
                break;
            case State::kEnded:
                return true;
        }
    }
}

void CollectiveTransfer::begin_own() {
    state_ = State::kOwn;
    own_transfer_ = std::make_unique<Transfer>(file_, view_->stream, access_, position_, memory_);
    system_.start([this] { transferred_ = own_transfer_->all(); });
}

void CollectiveTransfer::end_own() {
    moved_ = transferred_.bytes;
    fault_ = std::move(transferred_.fault);
    finish();
}

void CollectiveTransfer::next_round(comm::MessageLayer& messages) {
    if (++rounds_.number < rounds_.count && !fault_) {
        begin_round(messages);
    } else {
        begin_verdict();
    }
}

void CollectiveTransfer::finish() {
    stream_bytes_ = moved_;
    Transferred whole = data_.finish(moved_);
    moved_ = whole.bytes;
    if (whole.fault && !fault_) fault_ = std::move(whole.fault);
    state_ = State::kEnded;
}

// The same at all members.
bool CollectiveTransfer::exchanges() const {
    if (file_.size() == 1) return false;
    bool wanted = false;
    std::vector<Span> used;
    std::int64_t total = 0;
    for (const Span& each : spans_.all) {
        // The hints of members may differ.
        if (each.choice == Choice::kDisable) return false;
        wanted = wanted || each.choice == Choice::kEnable;
        if (each.bytes > 0) used.push_back(each);
        total += each.bytes;
    }
    if (used.empty()) return false;
    std::sort(used.begin(), used.end(),
              [](const Span& one, const Span& two) { return one.first < two.first; });
    bool interleaved = false;
    std::int64_t shortest = used.front().piece;
    std::int64_t end = used.front().end;
    for (std::size_t i = 1; i < used.size(); ++i) {
        interleaved = interleaved || used[i].first < end;
        end = std::max(end, used[i].end);
        shortest = std::min(shortest, used[i].piece);
    }
    if ((end - used.front().first) / kMostSparse > total) return false;
    return wanted || (interleaved && shortest < kLongPieces);
}

void CollectiveTransfer::begin_windows() {
    rounds_.begin = INT64_MAX;
    for (const Span& each : spans_.all) {
        if (each.bytes == 0) continue;
        rounds_.begin = std::min(rounds_.begin, each.first);
        rounds_.end = std::max(rounds_.end, each.end);
    }
    const std::int64_t size = file_.hints.collective_buffer;
    rounds_.begin -= rounds_.begin % size;
    const auto count = static_cast<std::int64_t>(file_.aggregators.size());
    rounds_.count = ((rounds_.end - rounds_.begin + size - 1) / size + count - 1) / count;
    const auto place = std::find(file_.aggregators.begin(), file_.aggregators.end(), file_.rank());
    if (place == file_.aggregators.end()) return;
    rounds_.place = static_cast<int>(place - file_.aggregators.begin());
    const auto bytes = static_cast<Bytes>(std::min(size, rounds_.end - rounds_.begin));
    window_.buffer = std::exchange(file_.spare_window, {});
    if (window_.buffer.bytes < bytes)
        window_.buffer = {decltype(window_.buffer.data)(new (FileWindow::kPlace) std::byte[bytes]),
                          nullptr, bytes};
    if (access_ == FileAccess::kWrite && window_.buffer.covered == nullptr)
        window_.buffer.covered = std::make_unique<std::byte[]>(window_.buffer.bytes);
}

const Stream& CollectiveTransfer::stream_of(int rank) const noexcept {
    if (rank == file_.rank() || member_views_ == nullptr) return view_->stream;
    return (*member_views_)[static_cast<std::size_t>(rank)].stream;
}

CollectiveTransfer::Part CollectiveTransfer::part_of(int rank, std::int64_t first,
                                                     std::int64_t end) const noexcept {
    const Span& span = spans_.all[static_cast<std::size_t>(rank)];
    if (span.bytes == 0 || span.end <= first || span.first >= end) return {};
    const auto low = static_cast<Bytes>(span.position);
    const Bytes high = low + static_cast<Bytes>(span.bytes);
    const Stream& stream = stream_of(rank);
    Part part;
    part.first = stream.find(first, low, high);
    part.end = stream.find(end, part.first, high);
    return part;
}

void CollectiveTransfer::send(comm::MessageLayer& messages, int rank, const Slice& slice) {
    const Slice& kept = messages_.slices.emplace_back(slice);
    comm::SendRequest& request = messages_.sends.emplace_back(
        kept.view(), file_.comm->local->task(rank), type_, file_.comm->context | kFileDataContext,
        comm::FlowClass::kCollective);
    messages.start(request);
}

void CollectiveTransfer::receive(comm::MessageLayer& messages, int rank, const Slice& slice) {
    const Slice& kept = messages_.slices.emplace_back(slice);
    comm::ReceiveRequest& request = messages_.receives.emplace_back();
    request.reset(kept.view(),
                  {file_.comm->context | kFileDataContext, file_.comm->local->task(rank), type_});
    messages.start(request);
}

// Receives come first, so that a message of this task to itself finds its receive.
void CollectiveTransfer::begin_round(comm::MessageLayer& messages) {
    messages_.slices.clear();
    messages_.sends.clear();
    messages_.receives.clear();
    const std::int64_t size = file_.hints.collective_buffer;
    const auto count = static_cast<std::int64_t>(file_.aggregators.size());
    const auto window_of = [&](std::int64_t place) {
        return rounds_.begin + (rounds_.number * count + place) * size;
    };
    const auto exchange_own = [&](FileAccess access) {
        if (access != access_) return;
        for (std::int64_t place = 0; place < count; ++place) {
            const std::int64_t first = window_of(place);
            const Part part = part_of(file_.rank(), first, std::min(first + size, rounds_.end));
            if (part.empty()) continue;
            const Slice slice(memory_.base, memory_.layout, part.first - position_,
                              part.end - part.first);
            const int rank = file_.aggregators[static_cast<std::size_t>(place)];
            if (access == FileAccess::kRead) {
                receive(messages, rank, slice);
            } else {
                send(messages, rank, slice);
            }
        }
    };
    exchange_own(FileAccess::kRead);
    messages_.own_receives = messages_.receives.size();
    state_ = State::kRound;
    if (rounds_.place >= 0) {
        window_.first = window_of(rounds_.place);
        window_.end = std::min(window_.first + size, rounds_.end);
        find_parts();
        if (access_ == FileAccess::kWrite) {
            receive_window(messages);
        } else {
            begin_reading(messages);
        }
    }
    exchange_own(FileAccess::kWrite);
}

// The parts of all members in the window of this aggregator, which has none in the last round
// perhaps.
void CollectiveTransfer::find_parts() {
    window_.parts.assign(static_cast<std::size_t>(file_.size()), Part{});
    window_.parts_first = window_.parts_end = 0;
    if (window_.first >= window_.end) return;
    window_.parts_first = window_.end;
    window_.parts_end = window_.first;
    for (int rank = 0; rank < file_.size(); ++rank) {
        const Part part = part_of(rank, window_.first, window_.end);
        if (part.empty()) continue;
        window_.parts[static_cast<std::size_t>(rank)] = part;
        const Stream& stream = stream_of(rank);
        window_.parts_first = std::min(window_.parts_first, stream.place(part.first));
        window_.parts_end = std::max(window_.parts_end, stream.place(part.end - 1) + 1);
    }
}

// The aggregator's side of a round of writing.
void CollectiveTransfer::receive_window(comm::MessageLayer& messages) {
    for (int rank = 0; rank < file_.size(); ++rank) {
        const Part part = window_.parts[static_cast<std::size_t>(rank)];
        if (part.empty()) continue;
        const Stream& stream = stream_of(rank);
        receive(messages, rank,
                Slice(stream.base_for(window_.buffer.data.get(), window_.first), stream.layout,
                      part.first, part.end - part.first));
    }
}

// The aggregator's side of a round of reading.
void CollectiveTransfer::begin_reading(comm::MessageLayer& messages) {
    if (window_.parts_first >= window_.parts_end) return;
    transferred_ = {};
    // After an error the members get empty messages.
    if (own_fault_) return send_window(messages);
    state_ = State::kReading;
    system_.start([this] {
        transferred_ = read_bytes(
            file_, window_.buffer.data.get() + (window_.parts_first - window_.first),
            static_cast<Bytes>(window_.parts_end - window_.parts_first), window_.parts_first);
    });
}

// An aggregator has failed, of which the others learn at the end.
void CollectiveTransfer::fail(const Transferred& part) {
    verdicts_.own = {part.fault.code, part.error};
    own_fault_ = part.fault;
}

void CollectiveTransfer::send_window(comm::MessageLayer& messages) {
    if (transferred_.fault) fail(transferred_);
    const std::int64_t known = window_.parts_first + static_cast<std::int64_t>(transferred_.bytes);
    for (int rank = 0; rank < file_.size(); ++rank) {
        const Part part = window_.parts[static_cast<std::size_t>(rank)];
        if (part.empty()) continue;
        const Stream& stream = stream_of(rank);
        const Bytes until = stream.find(known, part.first, part.end);
        send(messages, rank,
             Slice(stream.base_for(window_.buffer.data.get(), window_.first), stream.layout,
                   part.first, until - part.first));
    }
}

void CollectiveTransfer::note(comm::Outcome outcome, TaskId task) {
    if (outcome == comm::Outcome::kDone || fault_) return;
    const bool broken = outcome == comm::Outcome::kPeerBroken;
    fault_ = {broken ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER, "",
              "data of the file '" + file_.name + "' to or from task " + std::to_string(task) +
                  (broken ? " were lost, because a task has ended" : " cannot be moved"),
              broken ? "find out why that task has ended" : ""};
}

bool CollectiveTransfer::round_ended(comm::MessageLayer& messages) {
    const auto pending = [&](auto& request) {
        if (request.outcome == comm::Outcome::kPending) messages.end_if_hopeless(request);
        return request.outcome == comm::Outcome::kPending;
    };
    for (comm::ReceiveRequest& request : messages_.receives)
        if (pending(request)) return false;
    for (comm::SendRequest& request : messages_.sends)
        if (pending(request)) return false;
    return true;
}

void CollectiveTransfer::end_round() {
    for (std::size_t i = 0; i < messages_.receives.size(); ++i) {
        const comm::ReceiveRequest& request = messages_.receives[i];
        note(request.outcome, request.source >= 0 ? request.source : request.wanted.source);
        if (i < messages_.own_receives) moved_ += std::min(request.length, request.view.size());
    }
    for (const comm::SendRequest& request : messages_.sends) note(request.outcome, request.dest);
    const bool has_data = access_ == FileAccess::kWrite && rounds_.place >= 0 &&
                          window_.parts_first < window_.parts_end;
    if (!has_data || fault_ || own_fault_) return;
    state_ = State::kWriting;
    system_.start([this, locks = writers_lock(file_)] { write_window(locks); });
}

// Writes what the members have sent, and no byte that nobody has sent.
void CollectiveTransfer::write_window(bool locks) {
    static const std::vector<std::byte> marks(kMarks, std::byte{0xff});
    const std::int64_t first = window_.parts_first;
    const std::int64_t end = window_.parts_end;
    for (int rank = 0; rank < file_.size(); ++rank) {
        const Part part = window_.parts[static_cast<std::size_t>(rank)];
        if (part.empty()) continue;
        const Stream& stream = stream_of(rank);
        std::byte* const base = stream.base_for(window_.buffer.covered.get(), window_.first);
        for (Bytes at = part.first; at < part.end; at += kMarks)
            stream.layout.copy_in(base, at, marks.data(), std::min(kMarks, part.end - at));
    }
    const std::byte* at = window_.buffer.covered.get() + (first - window_.first);
    const std::byte* const limit = window_.buffer.covered.get() + (end - window_.first);
    while (at < limit && !own_fault_) {
        const auto* run = static_cast<const std::byte*>(
            std::memchr(at, 0xff, static_cast<std::size_t>(limit - at)));
        if (run == nullptr) break;
        const auto* gap = static_cast<const std::byte*>(
            std::memchr(run, 0, static_cast<std::size_t>(limit - run)));
        at = gap == nullptr ? limit : gap;
        const std::int64_t offset = run - window_.buffer.covered.get();
        const Transferred part =
            write_bytes(file_, window_.buffer.data.get() + offset, static_cast<Bytes>(at - run),
                        window_.first + offset, locks);
        if (part.fault) fail(part);
    }
    std::memset(window_.buffer.covered.get() + (first - window_.first), 0,
                static_cast<std::size_t>(end - first));
}

void CollectiveTransfer::begin_verdict() {
    messages_.slices.clear();
    messages_.sends.clear();
    messages_.receives.clear();
    if (window_.buffer.bytes > file_.spare_window.bytes && window_.buffer.bytes <= kKeptWindow)
        file_.spare_window = std::move(window_.buffer);
    window_.buffer = {};
    if (fault_) {
        // A member has ended, so the others need not be asked.
        state_ = State::kEnded;
        return;
    }
    verdicts_.exchange->start(runtime_.messages());
    state_ = State::kVerdict;
}

void CollectiveTransfer::end_verdict() {
    if (access_ == FileAccess::kWrite) moved_ = data_.bytes();
    fault_ = std::move(own_fault_);
    if (!fault_ && !verdicts_.exchange->succeeded()) fault_ = verdicts_.exchange->fault();
    for (std::size_t rank = 0; rank < verdicts_.all.size() && !fault_; ++rank) {
        const Verdict& verdict = verdicts_.all[rank];
        if (verdict.code == MPI_SUCCESS) continue;
        fault_ = {verdict.code, "",
                  std::string("rank ") + std::to_string(rank) + " could not " +
                      (access_ == FileAccess::kRead ? "read from" : "write to") + " the file '" +
                      file_.name + "' for all members: " + std::strerror(verdict.error),
                  ""};
    }
    if (fault_) moved_ = 0;
    finish();
}

Awaited CollectiveTransfer::awaited(const comm::MessageLayer& messages) {
    if (state_ == State::kSpans && spans_.exchange != nullptr)
        return spans_.exchange->awaited(messages);
    if (state_ == State::kVerdict) return verdicts_.exchange->awaited(messages);
    if (state_ != State::kRound) return {};
    for (const comm::ReceiveRequest& request : messages_.receives)
        if (request.outcome == comm::Outcome::kPending) return messages.awaited_by(request);
    for (const comm::SendRequest& request : messages_.sends)
        if (request.outcome == comm::Outcome::kPending) return messages.awaited_by(request);
    return {};
}

}  // namespace poe::mpi
