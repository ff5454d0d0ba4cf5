// Implementation of cursor.hpp.
#include "tracer/read/cursor.hpp"

#include <algorithm>
#include <array>

namespace poe::trace {
namespace {

// Records per read: 4 KB.
constexpr std::size_t kWindow = 170;
// If two records are farther apart than this, in ns, the following record is checked too.
constexpr std::int64_t kFarElsewhere = 1'000'000'000;
constexpr std::int64_t kFarInDamage = 1'000'000;
// Only the last record of a stream becomes a kWholeCall. A reader may see a few records more, which
// other threads have added at that moment.
constexpr std::uint64_t kLastRecords = 16;

bool is_open(const Record& record) {
    return record.kind == Kind::kCall && call_begins(record.detail) && !call_ends(record.detail);
}

}  // namespace

std::uint64_t unwrapped(std::uint64_t before, std::uint64_t time) noexcept {
    constexpr int kUnused = 16;
    const auto forward = static_cast<std::int64_t>((time - before) << kUnused) >> kUnused;
    return before + static_cast<std::uint64_t>(forward);
}

const Record* Cursor::look(std::uint64_t number) {
    if (stream_->open) return stream_->read_changing(number, looked_) ? &looked_ : nullptr;
    if (!stream_->in_file()) return stream_->record(number);
    const std::uint64_t index = number % stream_->capacity;
    if (index < window_at_ || index - window_at_ >= window_.size()) {
        window_.resize(kWindow);
        window_at_ = index;
        window_.resize(stream_->copy(index, window_));
        if (window_.empty()) return nullptr;
    }
    const Record& found = window_[static_cast<std::size_t>(index - window_at_)];
    return found.mark() == mark_of(number / stream_->capacity) ? &found : nullptr;
}

void Cursor::note(std::uint64_t number, bool call) {
    if (noted_ != nullptr && noted_->size() < kMostNoted) noted_->push_back({number, call});
}

const Record* Cursor::begin_of_call(const Record& whole) {
    const WholeCall call = WholeCall::unpacked(whole.detail, whole.b);
    const CallPart part = is_at_beginning(call.part) ? call.part : CallPart::kNone;
    --at_.number;
    at_.ending = true;
    Record begin = whole;
    begin.kind = Kind::kCall;
    begin.detail = call_detail(part, true, false);
    begin.b = pair(call.request, static_cast<std::uint32_t>(call.bytes));
    kept_ = begin;
    return &kept_;
}

// Returns null if the record does not exist any more or the time of the end cannot be true.
const Record* Cursor::end_of_call() {
    const Record* const found = look(at_.number++);
    at_.ending = false;
    if (found == nullptr || found->kind != Kind::kWholeCall) return nullptr;
    const WholeCall call = WholeCall::unpacked(found->detail, found->b);
    const CallPart part = is_at_beginning(call.part) ? CallPart::kNone : call.part;
    const std::uint64_t time = at_.time + call.duration;
    kept_ = *found;
    kept_.stamp = (found->stamp & ~kTimeMask) | (time & kTimeMask);
    kept_.kind = Kind::kCall;
    kept_.detail = call_detail(part, false, true);
    kept_.b = pair(call.request, static_cast<std::uint32_t>(call.bytes));
    if (stream_->trust((at_.number - 1) % stream_->capacity) != Stream::Trust::kAll &&
        !plausible(kept_, time)) {
        ++implausible_;
        return nullptr;
    }
    at_.time = time;
    return &kept_;
}

const Record* Cursor::next() {
    if (at_.ending)
        if (const Record* const end = end_of_call()) return end;
    while ((at_.number = stream_->next_place(at_.number)) < stream_->end) {
        const Record* record = look(at_.number++);
        if (record == nullptr || record->kind == Kind::kNone) {
            ++holes_;
            note(at_.number - 1, false);
            continue;
        }
        if (record->kind == Kind::kText || record->kind == Kind::kBytes ||
            record->kind == Kind::kContext)
            continue;
        const std::uint64_t time = unwrapped(at_.time, record->time());
        if (stream_->trust((at_.number - 1) % stream_->capacity) != Stream::Trust::kAll) {
            kept_ = *record;
            record = &kept_;
            if (!plausible(kept_, time)) {
                ++implausible_;
                continue;
            }
        }
        at_.time = time;
        if (is_open(*record) && at_.number + kLastRecords > stream_->end)
            note(at_.number - 1, true);
        return record->kind == Kind::kWholeCall ? begin_of_call(*record) : record;
    }
    return nullptr;
}

// Returns the first record with a time, from `number` on and within a short distance; null if there
// is none.
const Record* Cursor::next_of_time(std::uint64_t number) {
    constexpr std::uint64_t kFar = 64;
    const std::uint64_t end = std::min(stream_->end, number + kFar);
    for (; number < end; ++number) {
        const Record* record = look(number);
        if (record != nullptr && record->kind != Kind::kNone && record->kind != Kind::kText &&
            record->kind != Kind::kBytes && record->kind != Kind::kContext)
            return record;
    }
    return nullptr;
}

// Records are nearly in order of time. If a record is far from the one before it and the following
// record is not, its time is wrong.
bool Cursor::plausible(const Record& record, std::uint64_t time) {
    const bool strict = doubtful();
    const std::int64_t limit = strict ? kFarInDamage : kFarElsewhere;
    const auto since = [this](std::uint64_t moment) {
        return static_cast<std::int64_t>(moment - at_.time);
    };
    if (static_cast<std::uint8_t>(record.kind) > kLastKind) return false;
    if (stream_->latest && static_cast<std::int64_t>(time - *stream_->latest) > 0) return false;
    const std::int64_t jump = since(time);
    if (jump >= -limit && jump <= limit) return true;
    const Record* behind = next_of_time(at_.number);
    // There is no following record, so only the bounds of the stream limit the time.
    if (behind == nullptr) return jump > 0 || !strict;
    const std::int64_t next = since(unwrapped(at_.time, behind->time()));
    const bool next_is_near = next >= -limit && (jump < 0 || next < jump - limit);
    return !next_is_near;
}

std::string text_behind(const Stream& stream, std::uint64_t number, std::size_t bytes) {
    std::string text;
    Cursor behind(stream, {number, 0});
    while (text.size() < bytes && ++number < stream.end) {
        const Record* record = behind.look(number);
        if (record == nullptr || record->kind != Kind::kText) break;
        text += text_of(*record);
    }
    if (text.size() > bytes) text.resize(bytes);
    return text;
}

Bytes bytes_of(const Stream& stream, std::uint64_t number, const Record& record) {
    const std::uint32_t bytes = low(record.b);
    if (bytes != kManyBytes || number + 1 >= stream.end) return bytes;
    Cursor cursor(stream, {number, 0});
    const Record* behind = cursor.look(number + 1);
    return behind != nullptr && behind->kind == Kind::kBytes ? behind->b : bytes;
}

About about_of(const Stream& stream, std::uint64_t number) {
    // Usually one record is looked at, so a cursor with its read-ahead would cost more.
    while (++number < stream.end) {
        std::array<Record, 1> behind;
        if (stream.open) {
            if (!stream.read_changing(number, behind[0])) break;
        } else {
            if (stream.copy(number % stream.capacity, behind) == 0) break;
            if (behind[0].mark() != mark_of(number / stream.capacity)) break;
        }
        if (behind[0].kind == Kind::kContext) return {low(behind[0].b), behind[0].a};
        if (behind[0].kind != Kind::kBytes) break;
    }
    return {};
}

}  // namespace poe::trace
