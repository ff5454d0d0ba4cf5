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
    own_ = own_span();
    spans_.resize(static_cast<std::size_t>(file_.size()));
    verdicts_.resize(spans_.size());
    if (file_.size() == 1) {
        spans_[0] = own_;
        return;
    }
    span_exchange_ = gather(&own_, spans_.data(), sizeof(Span));
    verdict_exchange_ = gather(&verdict_, verdicts_.data(), sizeof(Verdict));
    span_exchange_->start(messages);
}

bool CollectiveTransfer::advance(comm::MessageLayer& messages) {
    for (;;) {
        switch (state_) {
            case State::kSpans:
                if (span_exchange_ != nullptr && !span_exchange_->advance(messages)) return false;
                if (span_exchange_ != nullptr && !span_exchange_->succeeded()) {
                    fault_ = span_exchange_->fault();
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
                if (!verdict_exchange_->advance(messages)) return false;
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
    if (++round_ < rounds_ && !fault_) {
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
    for (const Span& each : spans_) {
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
    begin_ = INT64_MAX;
    for (const Span& each : spans_) {
        if (each.bytes == 0) continue;
        begin_ = std::min(begin_, each.first);
        end_ = std::max(end_, each.end);
    }
    const std::int64_t size = file_.hints.collective_buffer;
    begin_ -= begin_ % size;
    const auto count = static_cast<std::int64_t>(file_.aggregators.size());
    rounds_ = ((end_ - begin_ + size - 1) / size + count - 1) / count;
    const auto place = std::find(file_.aggregators.begin(), file_.aggregators.end(), file_.rank());
    if (place == file_.aggregators.end()) return;
    place_ = static_cast<int>(place - file_.aggregators.begin());
    const auto bytes = static_cast<Bytes>(std::min(size, end_ - begin_));
    window_ = std::exchange(file_.spare_window, {});
    if (window_.bytes < bytes)
        window_ = {decltype(window_.data)(new (FileWindow::kPlace) std::byte[bytes]), nullptr,
                   bytes};
    if (access_ == FileAccess::kWrite && window_.covered == nullptr)
        window_.covered = std::make_unique<std::byte[]>(window_.bytes);
}

const Stream& CollectiveTransfer::stream_of(int rank) const noexcept {
    if (rank == file_.rank() || member_views_ == nullptr) return view_->stream;
    return (*member_views_)[static_cast<std::size_t>(rank)].stream;
}

CollectiveTransfer::Part CollectiveTransfer::part_of(int rank, std::int64_t first,
                                                     std::int64_t end) const noexcept {
    const Span& span = spans_[static_cast<std::size_t>(rank)];
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
    const Slice& kept = slices_.emplace_back(slice);
    comm::SendRequest& request =
        sends_.emplace_back(kept.view(), file_.comm->local->task(rank), type_,
                            file_.comm->context | kFileDataContext, comm::FlowClass::kCollective);
    messages.start(request);
}

void CollectiveTransfer::receive(comm::MessageLayer& messages, int rank, const Slice& slice) {
    const Slice& kept = slices_.emplace_back(slice);
    comm::ReceiveRequest& request = receives_.emplace_back();
    request.reset(kept.view(),
                  {file_.comm->context | kFileDataContext, file_.comm->local->task(rank), type_});
    messages.start(request);
}

// Receives come first, so that a message of this task to itself finds its receive.
void CollectiveTransfer::begin_round(comm::MessageLayer& messages) {
    slices_.clear();
    sends_.clear();
    receives_.clear();
    const std::int64_t size = file_.hints.collective_buffer;
    const auto count = static_cast<std::int64_t>(file_.aggregators.size());
    const auto window_of = [&](std::int64_t place) {
        return begin_ + (round_ * count + place) * size;
    };
    const auto exchange_own = [&](FileAccess access) {
        if (access != access_) return;
        for (std::int64_t place = 0; place < count; ++place) {
            const std::int64_t first = window_of(place);
            const Part part = part_of(file_.rank(), first, std::min(first + size, end_));
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
    own_receives_ = receives_.size();
    state_ = State::kRound;
    if (place_ >= 0) {
        window_first_ = window_of(place_);
        window_end_ = std::min(window_first_ + size, end_);
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
    parts_.assign(static_cast<std::size_t>(file_.size()), Part{});
    parts_first_ = parts_end_ = 0;
    if (window_first_ >= window_end_) return;
    parts_first_ = window_end_;
    parts_end_ = window_first_;
    for (int rank = 0; rank < file_.size(); ++rank) {
        const Part part = part_of(rank, window_first_, window_end_);
        if (part.empty()) continue;
        parts_[static_cast<std::size_t>(rank)] = part;
        const Stream& stream = stream_of(rank);
        parts_first_ = std::min(parts_first_, stream.place(part.first));
        parts_end_ = std::max(parts_end_, stream.place(part.end - 1) + 1);
    }
}

// The aggregator's side of a round of writing.
void CollectiveTransfer::receive_window(comm::MessageLayer& messages) {
    for (int rank = 0; rank < file_.size(); ++rank) {
        const Part part = parts_[static_cast<std::size_t>(rank)];
        if (part.empty()) continue;
        const Stream& stream = stream_of(rank);
        receive(messages, rank,
                Slice(stream.base_for(window_.data.get(), window_first_), stream.layout, part.first,
                      part.end - part.first));
    }
}

// The aggregator's side of a round of reading.
void CollectiveTransfer::begin_reading(comm::MessageLayer& messages) {
    if (parts_first_ >= parts_end_) return;
    transferred_ = {};
    // After an error the members get empty messages.
    if (own_fault_) return send_window(messages);
    state_ = State::kReading;
    system_.start([this] {
        transferred_ = read_bytes(file_, window_.data.get() + (parts_first_ - window_first_),
                                  static_cast<Bytes>(parts_end_ - parts_first_), parts_first_);
    });
}

// An aggregator has failed, of which the others learn at the end.
void CollectiveTransfer::fail(const Transferred& part) {
    verdict_ = {part.fault.code, part.error};
    own_fault_ = part.fault;
}

void CollectiveTransfer::send_window(comm::MessageLayer& messages) {
    if (transferred_.fault) fail(transferred_);
    const std::int64_t known = parts_first_ + static_cast<std::int64_t>(transferred_.bytes);
    for (int rank = 0; rank < file_.size(); ++rank) {
        const Part part = parts_[static_cast<std::size_t>(rank)];
        if (part.empty()) continue;
        const Stream& stream = stream_of(rank);
        const Bytes until = stream.find(known, part.first, part.end);
        send(messages, rank,
             Slice(stream.base_for(window_.data.get(), window_first_), stream.layout, part.first,
                   until - part.first));
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
    for (comm::ReceiveRequest& request : receives_)
        if (pending(request)) return false;
    for (comm::SendRequest& request : sends_)
        if (pending(request)) return false;
    return true;
}

void CollectiveTransfer::end_round() {
    for (std::size_t i = 0; i < receives_.size(); ++i) {
        const comm::ReceiveRequest& request = receives_[i];
        note(request.outcome, request.source >= 0 ? request.source : request.wanted.source);
        if (i < own_receives_) moved_ += std::min(request.length, request.view.size());
    }
    for (const comm::SendRequest& request : sends_) note(request.outcome, request.dest);
    const bool has_data = access_ == FileAccess::kWrite && place_ >= 0 && parts_first_ < parts_end_;
    if (!has_data || fault_ || own_fault_) return;
    state_ = State::kWriting;
    system_.start([this, locks = writers_lock(file_)] { write_window(locks); });
}

// Writes what the members have sent, and no byte that nobody has sent.
void CollectiveTransfer::write_window(bool locks) {
    static const std::vector<std::byte> marks(kMarks, std::byte{0xff});
    const std::int64_t first = parts_first_;
    const std::int64_t end = parts_end_;
    for (int rank = 0; rank < file_.size(); ++rank) {
        const Part part = parts_[static_cast<std::size_t>(rank)];
        if (part.empty()) continue;
        const Stream& stream = stream_of(rank);
        std::byte* const base = stream.base_for(window_.covered.get(), window_first_);
        for (Bytes at = part.first; at < part.end; at += kMarks)
            stream.layout.copy_in(base, at, marks.data(), std::min(kMarks, part.end - at));
    }
    const std::byte* at = window_.covered.get() + (first - window_first_);
    const std::byte* const limit = window_.covered.get() + (end - window_first_);
    while (at < limit && !own_fault_) {
        const auto* run = static_cast<const std::byte*>(
            std::memchr(at, 0xff, static_cast<std::size_t>(limit - at)));
        if (run == nullptr) break;
        const auto* gap = static_cast<const std::byte*>(
            std::memchr(run, 0, static_cast<std::size_t>(limit - run)));
        at = gap == nullptr ? limit : gap;
        const std::int64_t offset = run - window_.covered.get();
        const Transferred part =
            write_bytes(file_, window_.data.get() + offset, static_cast<Bytes>(at - run),
                        window_first_ + offset, locks);
        if (part.fault) fail(part);
    }
    std::memset(window_.covered.get() + (first - window_first_), 0,
                static_cast<std::size_t>(end - first));
}

void CollectiveTransfer::begin_verdict() {
    slices_.clear();
    sends_.clear();
    receives_.clear();
    if (window_.bytes > file_.spare_window.bytes && window_.bytes <= kKeptWindow)
        file_.spare_window = std::move(window_);
    window_ = {};
    if (fault_) {
        // A member has ended, so the others need not be asked.
        state_ = State::kEnded;
        return;
    }
    verdict_exchange_->start(runtime_.messages());
    state_ = State::kVerdict;
}

void CollectiveTransfer::end_verdict() {
    if (access_ == FileAccess::kWrite) moved_ = data_.bytes();
    fault_ = std::move(own_fault_);
    if (!fault_ && !verdict_exchange_->succeeded()) fault_ = verdict_exchange_->fault();
    for (std::size_t rank = 0; rank < verdicts_.size() && !fault_; ++rank) {
        const Verdict& verdict = verdicts_[rank];
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
    if (state_ == State::kSpans && span_exchange_ != nullptr)
        return span_exchange_->awaited(messages);
    if (state_ == State::kVerdict) return verdict_exchange_->awaited(messages);
    if (state_ != State::kRound) return {};
    for (const comm::ReceiveRequest& request : receives_)
        if (request.outcome == comm::Outcome::kPending) return messages.awaited_by(request);
    for (const comm::SendRequest& request : sends_)
        if (request.outcome == comm::Outcome::kPending) return messages.awaited_by(request);
    return {};
}

}  // namespace poe::mpi
