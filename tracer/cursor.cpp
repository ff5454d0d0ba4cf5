// See cursor.hpp.
#include "tracer/cursor.hpp"

namespace poe::trace {
namespace {

// Records read at a time: 4 KB.
constexpr std::size_t kWindow = 170;

}  // namespace

std::uint64_t unwrapped(std::uint64_t before, std::uint64_t time) noexcept {
    constexpr int kUnused = 16;
    const auto forward = static_cast<std::int64_t>((time - before) << kUnused) >> kUnused;
    return before + static_cast<std::uint64_t>(forward);
}

const Record* Cursor::look(std::uint64_t number) {
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

const Record* Cursor::next() {
    while ((at_.number = stream_->next_place(at_.number)) < stream_->end) {
        const Record* record = look(at_.number++);
        if (record == nullptr || record->kind == Kind::kNone) {
            ++holes_;
            if (noted_ != nullptr && noted_->size() < kMostNoted) noted_->push_back(at_.number - 1);
            continue;
        }
        if (record->kind == Kind::kText || record->kind == Kind::kBytes) continue;
        at_.time = unwrapped(at_.time, record->time());
        return record;
    }
    return nullptr;
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

}  // namespace poe::trace
