// Converts events to records; see tracer.hpp. tracer_open.cpp opens streams and defines names.
#include "tracer/probe/tracer.hpp"

#include <algorithm>

#include "base/segment/marker_row.hpp"

namespace poe::trace {
namespace {

constexpr std::uint32_t kTextMost = 240;  // bytes of a marker's text, and of a name

std::uint32_t short_bytes(Bytes bytes) noexcept {
    return bytes < kManyBytes ? static_cast<std::uint32_t>(bytes) : kManyBytes;
}

// The message's number as stored in `extra`; 0 is reserved for "unknown".
std::uint16_t short_number(std::uint32_t number) noexcept {
    return number == 0 ? 0 : static_cast<std::uint16_t>(number % 65535 + 1);
}

// Returns the number of the message or of the collective operation that the part is, as stored in
// `extra`.
std::uint16_t number_of_part(CallPart part, std::uint32_t number) noexcept {
    return part >= CallPart::kCollective ? static_cast<std::uint16_t>(number)
                                         : short_number(number);
}

// Makes a record of whole words. A processor takes 4 ns to load a word that was just stored in
// parts, and the recorder loads words.
Record record_of_words(Kind kind, std::uint8_t detail, std::uint16_t extra, std::uint32_t a,
                       std::uint64_t b) noexcept {
    const std::uint64_t middle = static_cast<std::uint64_t>(kind) | std::uint64_t{detail} << 8 |
                                 std::uint64_t{extra} << 16 | std::uint64_t{a} << 32;
    return std::bit_cast<Record>(std::array<std::uint64_t, 3>{0, middle, b});
}

// Records `record`, followed by what it is about, if that is to be recorded.
void record_about(Recorder& recorder, const Record& record, About about) noexcept {
    if (!about.recorded()) [[likely]] {
        recorder.record(record);
        return;
    }
    const Record together[] = {record,
                               {.kind = Kind::kContext, .a = about.request, .b = about.context}};
    recorder.record(together);
}

// Records `record` with b = pair(high, bytes), followed by a kBytes record if `bytes` is too large
// for it, and by what it is about.
void record_with_bytes(Recorder& recorder, Record record, std::uint32_t high, Bytes bytes,
                       About about = {}) noexcept {
    record.b = pair(high, short_bytes(bytes));
    if (bytes < kManyBytes) [[likely]] {
        record_about(recorder, record, about);
        return;
    }
    const Record together[] = {record,
                               {.kind = Kind::kBytes, .b = bytes},
                               {.kind = Kind::kContext, .a = about.request, .b = about.context}};
    recorder.record(std::span<const Record>(together, about.recorded() ? 3 : 2));
}

}  // namespace

inline Recorder* Tracer::at_level(int level) noexcept {
    const std::uint32_t word =
        word_.load(std::memory_order_relaxed)->load(std::memory_order_acquire);
    if (word != opened_.load(std::memory_order_acquire)) [[unlikely]]
        open(word);
    return level <= level_.load(std::memory_order_relaxed)
               ? recorder_.load(std::memory_order_acquire)
               : nullptr;
}

namespace {

const void* this_thread() noexcept {
    // The usual access from a shared library is a call, twice for each record.
    static thread_local char own __attribute__((tls_model("initial-exec"))) = 0;
    return &own;
}

}  // namespace

void Tracer::record_states_of_this_thread() noexcept {
    thread_with_states_.store(this_thread(), std::memory_order_relaxed);
}

inline Recorder* Tracer::for_states(int level) noexcept {
    const void* const only = thread_with_states_.load(std::memory_order_relaxed);
    return only == nullptr || only == this_thread() ? at_level(level) : nullptr;
}

bool Tracer::enter(std::uint32_t region, TaskId peer, std::int32_t type, const void* site,
                   About about) noexcept {
    Recorder* recorder =
        for_states(is_collective_region(region) ? kCollectivesLevel : kMessagesLevel);
    if (recorder == nullptr) return false;
    if (region >= kFirstMpiRegion) define_mpi_call(*recorder, region);
    Record record{.kind = Kind::kEnter,
                  .a = region,
                  .b = pair(static_cast<std::uint32_t>(peer), static_cast<std::uint32_t>(type))};
    if (level_.load(std::memory_order_relaxed) >= kCollectivesLevel)
        record.extra = site_of(*recorder, site);
    record_about(*recorder, record, about);
    return true;
}

void Tracer::leave(std::uint32_t region, Bytes bytes) noexcept {
    Recorder* recorder = for_states(kMessagesLevel);
    if (recorder == nullptr) return;
    recorder->record({.kind = Kind::kLeave, .a = region, .b = bytes});
}

void Tracer::sent(std::uint8_t flow, TaskId to, std::int32_t type, Bytes bytes,
                  std::uint32_t number, About about) noexcept {
    Recorder* recorder = at_level(kMessagesLevel);
    if (recorder == nullptr) return;
    record_with_bytes(*recorder,
                      {.kind = Kind::kSend,
                       .detail = flow,
                       .extra = short_number(number),
                       .a = static_cast<std::uint32_t>(to)},
                      static_cast<std::uint32_t>(type), bytes, about);
}

void Tracer::received(std::uint8_t flow, TaskId from, std::int32_t type, Bytes bytes,
                      std::uint32_t number, About about) noexcept {
    Recorder* recorder = at_level(kMessagesLevel);
    if (recorder == nullptr) return;
    record_with_bytes(*recorder,
                      {.kind = Kind::kReceive,
                       .detail = flow,
                       .extra = short_number(number),
                       .a = static_cast<std::uint32_t>(from)},
                      static_cast<std::uint32_t>(type), bytes, about);
}

void Tracer::send_ended(std::uint8_t flow, TaskId to, std::int32_t type, std::uint32_t number,
                        About about) noexcept {
    Recorder* recorder = at_level(kMessagesLevel);
    if (recorder == nullptr) return;
    record_about(*recorder,
                 {.kind = Kind::kSendEnded,
                  .detail = flow,
                  .extra = short_number(number),
                  .a = static_cast<std::uint32_t>(to),
                  .b = pair(static_cast<std::uint32_t>(type), 0)},
                 about);
}

void Tracer::collective(TaskId root, std::int32_t group, Bytes bytes, std::uint32_t number,
                        Phase phase, DataFlow flow) noexcept {
    Recorder* recorder = for_states(kCollectivesLevel);
    if (recorder == nullptr) return;
    record_with_bytes(*recorder,
                      {.kind = Kind::kCollective,
                       .detail = collective_detail(phase, flow),
                       .extra = static_cast<std::uint16_t>(number),
                       .a = static_cast<std::uint32_t>(root)},
                      static_cast<std::uint32_t>(group), bytes);
}

void Tracer::carried_out(std::string_view name, std::uint32_t round,
                         std::uint32_t rounds) noexcept {
    Recorder* recorder = for_states(kCollectivesLevel);
    if (recorder == nullptr) return;
    const NameTable::Entry* path = tables_->paths.find(name);
    if (path == nullptr)
        path = tables_->paths.add(name, kFirstPathRegion, [&](const NameTable::Entry& made) {
            define(*recorder, Defined::kRegion, made.id, 1, made.key);
        });
    if (path == nullptr) return;
    recorder->record({.kind = Kind::kCarriedOut, .a = path->id, .b = pair(round, rounds)});
}

void Tracer::block(TaskId to, Bytes bytes) noexcept {
    Recorder* recorder = for_states(kMessagesLevel);
    if (recorder == nullptr) return;
    recorder->record({.kind = Kind::kBlock, .a = static_cast<std::uint32_t>(to), .b = bytes});
}

bool Tracer::call(const CallRecord& call, OpenCall* open) noexcept {
    const bool operation = call.part >= CallPart::kCollective;
    // A message is recorded also in a thread whose states are not.
    Recorder* const recorder = call.begins || call.ends || operation ? for_states(kMessagesLevel)
                                                                     : at_level(kMessagesLevel);
    if (recorder == nullptr) return false;
    if (level_.load(std::memory_order_relaxed) < kCollectivesLevel) [[unlikely]]
        return call_in_several(call);
    std::uint32_t line = recorder->call_lines().find(call.line);
    if (line == 0) [[unlikely]]
        line = define_line(*recorder, call.line);
    if (line == 0 || call.bytes >= kManyBytes) [[unlikely]]
        return call_in_several(call);
    const Record record =
        record_of_words(Kind::kCall, call_detail(call.part, call.begins, call.ends, call.flow),
                        number_of_part(call.part, call.number), line,
                        pair(call.request, static_cast<std::uint32_t>(call.bytes)));
    const auto number = recorder->record_numbered({&record, 1});
    if (open != nullptr && number) *open = {recorder, *number};
    return number.has_value();
}

bool Tracer::end_call(const OpenCall& open, const CallRecord& end) noexcept {
    if (open.recorder == nullptr || open.recorder != for_states(kMessagesLevel)) return false;
    Record* const place = open.recorder->last(open.number);
    if (place == nullptr) return false;
    const auto begun = static_cast<CallPart>(part_of_call(place->detail));
    if (begun != CallPart::kNone && end.part != CallPart::kNone) return false;
    const bool of_begin = begun != CallPart::kNone;
    const WholeCall whole{.part = of_begin ? begun : end.part,
                          .request = of_begin ? high(place->b) : end.request,
                          .duration = (open.recorder->now() - place->time()) & kTimeMask,
                          .bytes = of_begin ? low(place->b) : end.bytes};
    if (!whole.fits()) return false;
    Recorder::replace(
        *place, record_of_words(Kind::kWholeCall, whole.detail(),
                                of_begin ? place->extra : number_of_part(end.part, end.number),
                                place->a, whole.packed()));
    return true;
}

[[gnu::cold]] bool Tracer::call_in_several(const CallRecord& call) noexcept {
    const CallLine& line = call.line;
    const About about{line.context, call.request};
    const auto operation = [&](Phase phase) {
        collective(line.root, static_cast<std::int32_t>(group_of_context(line.context)), call.bytes,
                   call.number, phase, call.flow);
    };
    bool recorded = true;
    if (call.begins)
        recorded = enter(line.region, line.peer, line.type, line.site, {line.context, 0});
    switch (call.part) {
        case CallPart::kNone:
            break;
        case CallPart::kSend:
            sent(kNumberedByTag, line.peer, line.type, call.bytes, call.number, about);
            break;
        case CallPart::kReceive:
            received(kNumberedByTag, line.peer, line.type, call.bytes, call.number, about);
            break;
        case CallPart::kSendEnded:
            send_ended(kNumberedByTag, line.peer, line.type, call.number, about);
            break;
        case CallPart::kCollective:
            operation(Phase::kWhole);
            break;
        case CallPart::kCollectiveStarts:
            operation(Phase::kStarts);
            break;
        case CallPart::kCollectiveEnds:
            operation(Phase::kEnds);
            break;
    }
    if (call.ends) leave(line.region, call.bytes);
    return recorded;
}

void Tracer::marker(int light, int color, std::string_view text) noexcept {
    Recorder* recorder = at_level(kEverythingLevel);
    if (recorder == nullptr) return;
    text = text.substr(0, kTextMost);
    Record together[1 + text_records(kTextMost)];
    std::size_t count = 0;
    together[count++] = {
        .kind = Kind::kMarker,
        .detail = static_cast<std::uint8_t>(light >= 0 && light < kMaxLights ? light : 0xff),
        .extra = static_cast<std::uint16_t>(color >= 0 && color < kMarkerColors ? color : 0xffff),
        .a = static_cast<std::uint32_t>(text.size())};
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), kTextBytes)))
        together[count++] = text_record(text.substr(0, kTextBytes));
    recorder->record(std::span<const Record>(together, count));
}

void Tracer::progress(std::int64_t done, std::int64_t total) noexcept {
    Recorder* recorder = at_level(kEverythingLevel);
    if (recorder == nullptr) return;
    const Record together[] = {
        {.kind = Kind::kProgress, .detail = 0, .b = static_cast<std::uint64_t>(done)},
        {.kind = Kind::kProgress, .detail = 1, .b = static_cast<std::uint64_t>(total)}};
    recorder->record(together);
}

bool Tracer::enter_region(std::string_view name, const void* site) noexcept {
    Recorder* recorder = for_states(kEverythingLevel);
    if (recorder == nullptr) return false;
    const std::uint32_t region = region_of(*recorder, name.substr(0, kTextMost));
    return region != 0 && recorder->record({.kind = Kind::kEnter,
                                            .extra = site_of(*recorder, site),
                                            .a = region,
                                            .b = pair(kNobody, 0)});
}

bool Tracer::leave_region(std::string_view name) noexcept {
    Recorder* recorder = for_states(kEverythingLevel);
    if (recorder == nullptr) return false;
    const std::uint32_t region = region_of(*recorder, name.substr(0, kTextMost));
    return region != 0 && recorder->record({.kind = Kind::kLeave, .a = region});
}

bool Tracer::count(std::string_view name, double value) noexcept {
    Recorder* recorder = at_level(kEverythingLevel);
    if (recorder == nullptr) return false;
    name = name.substr(0, kTextMost);
    const NameTable::Entry* counter = tables_->counters.find(name);
    if (counter == nullptr)
        counter = tables_->counters.add(name, 1, [&](const NameTable::Entry& made) {
            define(*recorder, Defined::kCounter, made.id, 0, made.key);
        });
    return counter != nullptr && recorder->record({.kind = Kind::kCounter,
                                                   .a = counter->id,
                                                   .b = std::bit_cast<std::uint64_t>(value)});
}

bool Tracer::start(int level) noexcept {
    if (at_level(0) == nullptr) return false;
    const int of_job = level_of(opened_.load(std::memory_order_relaxed));
    own_level_.store(level == 0 ? -1 : level, std::memory_order_relaxed);
    const int before = level_.exchange(level == 0 ? of_job : level, std::memory_order_relaxed);
    if (before == 0)
        recorder_.load(std::memory_order_acquire)->record({.kind = Kind::kTracing, .detail = 1});
    return true;
}

bool Tracer::stop() noexcept {
    Recorder* recorder = at_level(0);
    if (recorder == nullptr) return false;
    own_level_.store(0, std::memory_order_relaxed);
    if (level_.exchange(0, std::memory_order_relaxed) != 0)
        recorder->record({.kind = Kind::kTracing, .detail = 0});
    return true;
}

}  // namespace poe::trace
