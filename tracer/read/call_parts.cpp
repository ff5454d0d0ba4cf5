// Implementation of call_parts.hpp.
#include "tracer/read/call_parts.hpp"

#include "tracer/read/cursor.hpp"

namespace poe::trace {

std::optional<Record> CallParts::next() noexcept {
    if (step_ == Step::kBegin) {
        step_ = Step::kPart;
        if (call_begins(call_.detail)) {
            Record begin = record(Kind::kEnter);
            begin.extra = line_.site;
            begin.a = line_.region;
            begin.b = pair(line_.peer, line_.type);
            return begin;
        }
    }
    if (step_ == Step::kPart) {
        step_ = Step::kEnd;
        about_request_ = true;
        if (const auto found = part()) return found;
    }
    if (step_ == Step::kEnd) {
        step_ = Step::kDone;
        about_request_ = false;
        if (call_ends(call_.detail)) {
            Record end = record(Kind::kLeave);
            end.a = line_.region;
            end.b = bytes();
            return end;
        }
    }
    return std::nullopt;
}

std::optional<Record> CallParts::part() const noexcept {
    const auto message = [this](Kind kind, std::uint32_t amount) {
        Record found = record(kind);
        found.detail = kNumberedByTag;
        found.extra = call_.extra;
        found.a = line_.peer;
        found.b = pair(line_.type, amount);
        return found;
    };
    const auto operation = [this](Phase phase) {
        Record found = record(Kind::kCollective);
        found.detail = collective_detail(phase, flow_of_call(call_.detail));
        found.extra = call_.extra;
        found.a = line_.root;
        found.b = pair(group_of_context(line_.context), low(call_.b));
        return found;
    };
    switch (static_cast<CallPart>(part_of_call(call_.detail))) {
        case CallPart::kSend:
            return message(Kind::kSend, low(call_.b));
        case CallPart::kReceive:
            return message(Kind::kReceive, low(call_.b));
        case CallPart::kSendEnded:
            return message(Kind::kSendEnded, 0);
        case CallPart::kCollective:
            return operation(Phase::kWhole);
        case CallPart::kCollectiveStarts:
            return operation(Phase::kStarts);
        case CallPart::kCollectiveEnds:
            return operation(Phase::kEnds);
        default:
            return std::nullopt;
    }
}

std::optional<StreamCallLine> CallLinesOfTrace::find(const Stream& stream, std::uint32_t index,
                                                     std::uint32_t number) {
    const std::uint64_t key = pair(index, number);
    if (const auto known = lines_.find(key); known != lines_.end()) return known->second;
    if (number < stream.first || number >= stream.end) return std::nullopt;
    Cursor cursor(stream, {number, 0});
    const Record* const head = cursor.look(number);
    if (head == nullptr || head->kind != Kind::kDefine ||
        head->detail != static_cast<std::uint8_t>(Defined::kCallLine))
        return std::nullopt;
    StreamCallLine line{.region = head->a, .peer = high(head->b), .type = low(head->b)};
    const Record* const rest = cursor.look(std::uint64_t{number} + 1);
    if (rest == nullptr || rest->kind != Kind::kContext) return std::nullopt;
    line.root = rest->a;
    line.site = static_cast<std::uint16_t>(high(rest->b));
    line.context = low(rest->b);
    if (lines_.size() < kMost) lines_.emplace(key, line);
    return line;
}

}  // namespace poe::trace
