// See perf_event.hpp.
#include "partition_manager/sampling/perf_event.hpp"

#include <algorithm>
#include <cstring>
#include <linux/perf_event.h>

#if defined(__x86_64__)
#include <asm/perf_regs.h>
#endif

namespace poe::pm {
namespace {

// The kernel's number and the DWARF number of a register.
struct CopiedRegister {
    unsigned kernel;
    unsigned dwarf;
};
#if defined(__x86_64__)
constexpr CopiedRegister kCopied[] = {{PERF_REG_X86_BX, 3},
                                      {PERF_REG_X86_BP, kFramePointer},
                                      {PERF_REG_X86_SP, kStackPointer},
                                      {PERF_REG_X86_IP, kReturnAddress},
                                      {PERF_REG_X86_R12, 12},
                                      {PERF_REG_X86_R13, 13},
                                      {PERF_REG_X86_R14, 14},
                                      {PERF_REG_X86_R15, 15}};
#else
constexpr CopiedRegister kCopied[] = {{0, kReturnAddress}};
#endif

// Takes fields from the front of a record.
class Fields {
  public:
    explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <typename T>
    T take() {
        T value{};
        if (bytes_.size() < sizeof value) {
            bytes_ = {};
            return value;
        }
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_ = bytes_.subspan(sizeof value);
        return value;
    }
    std::span<const std::byte> take_bytes(std::size_t count) {
        const auto taken = bytes_.first(std::min(count, bytes_.size()));
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

  private:
    std::span<const std::byte> bytes_;
};

// Records that are no samples end with the thread, the time and the event.
constexpr std::size_t kTrailer = 24;

void read_trailer(std::span<const std::byte> body, PerfEvent& event) {
    if (body.size() < kTrailer) return;
    Fields fields(body.last(kTrailer));
    fields.take<std::int32_t>();  // the process
    event.recorded_by = fields.take<std::int32_t>();
    event.time = fields.take<std::uint64_t>();
    event.event = fields.take<std::uint64_t>();
}

void read_sample(Fields fields, PerfEvent& event) {
    event.event = fields.take<std::uint64_t>();
    event.process = fields.take<std::int32_t>();
    event.thread = event.recorded_by = fields.take<std::int32_t>();
    event.time = fields.take<std::uint64_t>();
    if (fields.take<std::uint64_t>() != PERF_SAMPLE_REGS_ABI_NONE) {
        const std::uint64_t mask = copied_registers();
        for (unsigned kernel = 0; kernel < 64; ++kernel) {
            if ((mask >> kernel & 1) == 0) continue;
            const auto value = fields.take<std::uint64_t>();
            for (const CopiedRegister& copied : kCopied)
                if (copied.kernel == kernel) event.registers.set(copied.dwarf, value);
        }
    }
    const auto size = static_cast<std::size_t>(fields.take<std::uint64_t>());
    if (size == 0) return;
    const auto copied = fields.take_bytes(size);
    const auto filled = std::min<std::uint64_t>(fields.take<std::uint64_t>(), copied.size());
    event.stack_at = event.registers[kStackPointer];
    event.stack.assign(copied.begin(), copied.begin() + static_cast<std::ptrdiff_t>(filled));
}

void read_mapping(std::span<const std::byte> body, PerfEvent& event) {
    Fields fields(body);
    event.process = fields.take<std::int32_t>();
    event.thread = fields.take<std::int32_t>();
    event.address = fields.take<std::uint64_t>();
    event.bytes = fields.take<std::uint64_t>();
    event.position = fields.take<std::uint64_t>();
    fields.take_bytes(32);  // device, file number, protection, flags
    const auto name = fields.take_bytes(body.size());
    const auto end = std::find(name.begin(), name.end(), std::byte{0});
    event.path.assign(reinterpret_cast<const char*>(name.data()),
                      static_cast<std::size_t>(end - name.begin()));
}

// Returns false for a record that is not needed.
bool read_event(const perf_event_header& header, std::span<const std::byte> body,
                PerfEvent& event) {
    Fields fields(body);
    switch (header.type) {
        case PERF_RECORD_SAMPLE:
            event.kind = PerfEvent::Kind::kSample;
            event.in_kernel =
                (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
            read_sample(fields, event);
            return true;
        case PERF_RECORD_MMAP2:
            event.kind = PerfEvent::Kind::kMapped;
            read_mapping(body, event);
            break;
        case PERF_RECORD_COMM:
            if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) == 0) return false;
            event.kind = PerfEvent::Kind::kExecuted;
            event.process = fields.take<std::int32_t>();
            event.thread = fields.take<std::int32_t>();
            break;
        case PERF_RECORD_FORK:
            event.kind = PerfEvent::Kind::kForked;
            event.process = fields.take<std::int32_t>();
            event.parent = fields.take<std::int32_t>();
            event.thread = fields.take<std::int32_t>();
            if (event.process == event.parent) event.kind = PerfEvent::Kind::kThreadMade;
            break;
        case PERF_RECORD_EXIT:
            event.kind = PerfEvent::Kind::kEnded;
            event.process = fields.take<std::int32_t>();
            event.parent = fields.take<std::int32_t>();
            event.thread = fields.take<std::int32_t>();
            break;
        case PERF_RECORD_LOST:
            event.kind = PerfEvent::Kind::kLost;
            fields.take<std::uint64_t>();
            event.lost = fields.take<std::uint64_t>();
            break;
        default:
            return false;
    }
    read_trailer(body, event);
    return true;
}

}  // namespace

std::uint64_t copied_registers() noexcept {
    std::uint64_t mask = 0;
    for (const CopiedRegister& copied : kCopied) mask |= std::uint64_t{1} << copied.kernel;
    return mask;
}

std::uint64_t sample_fields() noexcept {
    return PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
           PERF_SAMPLE_STACK_USER;
}

void read_perf_events(std::span<const std::byte> bytes, std::vector<PerfEvent>& events) {
    while (bytes.size() >= sizeof(perf_event_header)) {
        perf_event_header header{};
        std::memcpy(&header, bytes.data(), sizeof header);
        if (header.size < sizeof header || header.size > bytes.size()) return;
        PerfEvent event;
        if (read_event(header, bytes.first(header.size).subspan(sizeof header), event))
            events.push_back(std::move(event));
        bytes = bytes.subspan(header.size);
    }
}

}  // namespace poe::pm
