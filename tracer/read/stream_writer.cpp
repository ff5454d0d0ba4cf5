// Implementation of stream_writer.hpp.
#include "tracer/read/stream_writer.hpp"

#include <algorithm>
#include <new>

#include "tracer/read/block_sums.hpp"

namespace poe::trace {
namespace {

void pad(std::string& bytes) {
    bytes.resize((bytes.size() + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes);
}

template <std::size_t kSize>
void fill(std::array<char, kSize>& field, std::string_view text) {
    std::copy_n(text.data(), std::min(kSize, text.size()), field.data());
}

void finish(std::string& stream, std::uint32_t version) {
    pad(stream);
    if (version > 1) add_sums(std::as_writable_bytes(std::span(stream)));
}

std::string header_page(const StreamHeader& header) {
    std::string page(reinterpret_cast<const char*>(&header), sizeof header);
    pad(page);
    return page;
}

}  // namespace

void StreamWriter::put(std::uint64_t time, Record record) {
    const std::uint64_t slots = facts_.capacity;
    const std::uint64_t lap = slots == 0 ? 0 : reserved_ / slots;
    const std::uint64_t index = slots == 0 ? reserved_ : reserved_ % slots;
    record.stamp = make_stamp(lap, time);
    const std::size_t at = static_cast<std::size_t>(index) * sizeof record;
    if (records_.size() < at + sizeof record) records_.resize(at + sizeof record);
    std::memcpy(records_.data() + at, &record, sizeof record);
    ++reserved_;
    last_time_ = std::max(last_time_, time + ((last_time_of(record) - record.time()) & kTimeMask));
}

void StreamWriter::replace(std::uint64_t number, Record record) {
    const std::size_t at = static_cast<std::size_t>(number) * sizeof record;
    std::memcpy(&record.stamp, records_.data() + at, sizeof record.stamp);
    std::memcpy(records_.data() + at, &record, sizeof record);
}

void StreamWriter::put(std::uint64_t time, Record record, std::string_view text) {
    put(time, record);
    for (; !text.empty(); text.remove_prefix(std::min(kTextBytes, text.size())))
        put(time, text_record(text.substr(0, kTextBytes)));
}

void StreamWriter::define(std::uint64_t time, Defined what, std::uint32_t id, std::string_view name,
                          std::uint64_t value) {
    name = name.substr(0, 0xffff);
    put(time,
        {.kind = Kind::kDefine,
         .detail = static_cast<std::uint8_t>(what),
         .extra = static_cast<std::uint16_t>(name.size()),
         .a = id,
         .b = value},
        name);
}

void StreamWriter::enter(std::uint64_t time, std::uint32_t region, std::uint32_t peer,
                         std::uint32_t type, std::uint16_t site) {
    put(time, {.kind = Kind::kEnter, .extra = site, .a = region, .b = pair(peer, type)});
}

void StreamWriter::leave(std::uint64_t time, std::uint32_t region) {
    put(time, {.kind = Kind::kLeave, .a = region});
}

void StreamWriter::message(std::uint64_t time, Record record, Bytes bytes) {
    const bool many = bytes >= kManyBytes;
    record.b = pair(high(record.b), many ? kManyBytes : static_cast<std::uint32_t>(bytes));
    put(time, record);
    if (many) put(time, {.kind = Kind::kBytes, .b = bytes});
}

void StreamWriter::send(std::uint64_t time, std::uint32_t to, std::uint32_t type, Bytes bytes,
                        std::uint16_t number) {
    message(time, {.kind = Kind::kSend, .extra = number, .a = to, .b = pair(type, 0)}, bytes);
}

void StreamWriter::receive(std::uint64_t time, std::uint32_t from, std::uint32_t type, Bytes bytes,
                           std::uint16_t number) {
    message(time, {.kind = Kind::kReceive, .extra = number, .a = from, .b = pair(type, 0)}, bytes);
}

void StreamWriter::collective(std::uint64_t time, std::uint16_t number, std::uint32_t root,
                              std::uint32_t group, Bytes bytes, Phase phase, DataFlow flow) {
    message(time,
            {.kind = Kind::kCollective,
             .detail = collective_detail(phase, flow),
             .extra = number,
             .a = root,
             .b = pair(group, 0)},
            bytes);
}

void StreamWriter::carried_out(std::uint64_t time, std::uint32_t path, std::uint32_t round,
                               std::uint32_t rounds) {
    put(time, {.kind = Kind::kCarriedOut, .a = path, .b = pair(round, rounds)});
}

void StreamWriter::send_ended(std::uint64_t time, std::uint32_t to, std::uint32_t type,
                              std::uint16_t number) {
    put(time, {.kind = Kind::kSendEnded, .extra = number, .a = to, .b = pair(type, 0)});
}

std::uint32_t StreamWriter::call_line(std::uint64_t time, const StreamCallLine& line) {
    const std::uint64_t number = records();
    put(time, {.kind = Kind::kDefine,
               .detail = static_cast<std::uint8_t>(Defined::kCallLine),
               .a = line.region,
               .b = pair(line.peer, line.type)});
    put(time, {.kind = Kind::kContext, .a = line.root, .b = pair(line.site, line.context)});
    return static_cast<std::uint32_t>(number);
}

void StreamWriter::call(std::uint64_t time, std::uint32_t line, std::uint8_t detail, Bytes bytes,
                        std::uint16_t number, std::uint32_t request) {
    put(time, {.kind = Kind::kCall,
               .detail = detail,
               .extra = number,
               .a = line,
               .b = pair(request, static_cast<std::uint32_t>(bytes))});
}

void StreamWriter::whole_call(std::uint64_t time, std::uint32_t line, const WholeCall& call,
                              std::uint16_t number) {
    put(time, {.kind = Kind::kWholeCall,
               .detail = call.detail(),
               .extra = number,
               .a = line,
               .b = call.packed()});
}

void StreamWriter::about(std::uint64_t time, std::uint32_t context, std::uint32_t request) {
    put(time, {.kind = Kind::kContext, .a = request, .b = context});
}

void StreamWriter::counter(std::uint64_t time, std::uint32_t counter, double value) {
    put(time, {.kind = Kind::kCounter, .a = counter, .b = std::bit_cast<std::uint64_t>(value)});
}

std::string StreamWriter::bytes(bool closed) const {
    StreamHeader header;
    header.version = facts_.version;
    header.kind = facts_.kind;
    header.task = facts_.kind == StreamKind::kTask ? facts_.task : -1;
    header.node = facts_.node;
    header.tasks = facts_.tasks;
    header.level = facts_.level;
    header.wraps = facts_.capacity == 0 ? 0 : 1;
    header.capacity = facts_.capacity == 0 ? std::uint64_t{1} << 40 : facts_.capacity;
    header.origin = facts_.origin;
    header.wall = facts_.wall;
    fill(header.job, facts_.job);
    fill(header.node_name, facts_.node_name);
    fill(header.program, facts_.program);
    header.reserved.store(reserved_, std::memory_order_relaxed);
    // A hole at the end also needs its slot.
    std::string records = records_;
    const std::uint64_t slots =
        facts_.capacity == 0 ? reserved_ : std::min(reserved_, facts_.capacity);
    records.resize(static_cast<std::size_t>(slots) * sizeof(Record));
    // A length of 0 would mean that the stream is still open, so an empty stream gets one hole.
    if (closed && records.empty()) records.resize(sizeof(Record));
    header.length = closed ? records.size() : 0;
    if (closed && facts_.version > 1) header.last_time = last_time_;
    std::string out = header_page(header) + records;
    if (closed) finish(out, facts_.version);
    return out;
}

std::string job_stream(std::string_view json, std::uint32_t version) {
    StreamHeader header;
    header.version = version;
    header.kind = StreamKind::kJob;
    header.length = json.size();
    std::string out = header_page(header);
    out += json;
    finish(out, version);
    return out;
}

}  // namespace poe::trace
