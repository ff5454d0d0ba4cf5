// See cursor.hpp.
#include "tracer/cursor.hpp"

namespace poe::trace {
namespace {

// The time nearest to `before` that is `time` modulo 2^48: records may be a little out of order,
// and 39 hours apart.
std::uint64_t unwrapped(std::uint64_t before, std::uint64_t time) noexcept {
    constexpr int kUnused = 16;
    const auto forward = static_cast<std::int64_t>((time - before) << kUnused) >> kUnused;
    return before + static_cast<std::uint64_t>(forward);
}

}  // namespace

const Record* Cursor::next() noexcept {
    while ((at_.number = stream_->next_place(at_.number)) < stream_->end) {
        const Record* record = stream_->record(at_.number++);
        if (record == nullptr || record->kind == Kind::kNone) {
            ++holes_;
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
    while (text.size() < bytes && ++number < stream.end) {
        const Record* record = stream.record(number);
        if (record == nullptr || record->kind != Kind::kText) break;
        text += text_of(*record);
    }
    if (text.size() > bytes) text.resize(bytes);
    return text;
}

Bytes bytes_of(const Stream& stream, std::uint64_t number, const Record& record) noexcept {
    const std::uint32_t bytes = low(record.b);
    if (bytes != kManyBytes || number + 1 >= stream.end) return bytes;
    const Record* behind = stream.record(number + 1);
    return behind != nullptr && behind->kind == Kind::kBytes ? behind->b : bytes;
}

}  // namespace poe::trace
