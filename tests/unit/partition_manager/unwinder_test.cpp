// How copied stacks become call paths: unwinding by rules, mappings, the kernel's records, numbers
// of paths.
#include "partition_manager/sampling/unwinder.hpp"

#include <cstring>
#include <dwarf.h>
#include <linux/perf_event.h>
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "partition_manager/sampling/address_space.hpp"
#include "partition_manager/sampling/call_paths.hpp"
#include "partition_manager/sampling/perf_event.hpp"
#include "partition_manager/sampling/sleep_watch.hpp"

using namespace poe::pm;
namespace trace = poe::trace;

namespace {

// A stack of words from address 1000 on, and rules by address.
struct Program {
    std::vector<std::uint64_t> words;
    std::map<std::uint64_t, UnwindRule> rules;  // by the first address of a function of 100 bytes
    bool has_code(std::uint64_t address) const { return address >= 100 && address < 900; }

    StackWalk walk(Registers registers) const {
        const StackCopy copy{1000, std::as_bytes(std::span(words))};
        return walk_stack(registers,
                          {.rule_of = [this](std::uint64_t address) -> const UnwindRule* {
                               static const UnwindRule kNone;
                               const auto found = rules.find(address / 100 * 100);
                               if (found != rules.end()) return &found->second;
                               return has_code(address) ? &kNone : nullptr;
                           },
                           .word_at = [copy](std::uint64_t at) { return copy.word_at(at); }});
    }
};

UnwindRule::Saved below_frame(std::uint64_t bytes) {
    return {UnwindRule::Kind::kAt,
            {{DW_OP_call_frame_cfa, 0, 0}, {DW_OP_plus_uconst, std::uint64_t{0} - bytes, 0}}};
}

// A function whose frame has that many words: the return address is the uppermost.
UnwindRule frame_of(std::uint64_t words) {
    UnwindRule rule;
    rule.found = true;
    rule.frame = {{DW_OP_breg7, 8 * words, 0}};
    for (UnwindRule::Saved& saved : rule.saved) saved.kind = UnwindRule::Kind::kSame;
    rule.saved.back() = below_frame(8);
    return rule;
}

UnwindRule outermost() {
    UnwindRule rule = frame_of(1);
    rule.saved.back() = {};
    return rule;
}

Registers at(std::uint64_t address, std::uint64_t stack) {
    Registers registers;
    registers.set(kReturnAddress, address);
    registers.set(kStackPointer, stack);
    return registers;
}

using Addresses = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a stack is unwound by rules") {
    Program program;
    program.words = {0, 0, 250, 360};
    program.rules = {{100, frame_of(3)}, {200, frame_of(1)}, {300, outermost()}};
    const StackWalk walk = program.walk(at(110, 1000));
    CHECK(walk.addresses == Addresses{110, 249, 359});
    CHECK(walk.whole);
}

TEST_CASE("a saved frame pointer is found for the caller that needs it") {
    Program program;
    program.words = {1024, 250, 0, 0, 360};
    program.rules = {{100, frame_of(2)}, {300, outermost()}};
    program.rules[100].saved[1] = below_frame(16);
    UnwindRule by_frame_pointer = frame_of(1);
    by_frame_pointer.frame = {{DW_OP_breg6, 16, 0}};
    program.rules[200] = by_frame_pointer;
    CHECK(program.walk(at(110, 1000)).addresses == Addresses{110, 249, 359});
}

TEST_CASE("a function without tables is left by its frame pointer") {
    Program program;
    program.words = {0, 0, 0, 350};
    program.rules = {{300, outermost()}};
    Registers registers = at(110, 1000);
    registers.set(kFramePointer, 1016);
    CHECK(program.walk(registers).addresses == Addresses{110, 349});
    CHECK(program.walk(registers).whole);
    // The outermost function of the dynamic loader.
    registers.set(kFramePointer, 0);
    CHECK(program.walk(registers).addresses == Addresses{110});
    CHECK(program.walk(registers).whole);
    registers.set(kFramePointer, 1016);
    // A frame pointer that leads to no code is a number of the program's.
    program.words[3] = 5000;
    CHECK(program.walk(registers).addresses == Addresses{110});
    CHECK_FALSE(program.walk(registers).whole);
}

TEST_CASE("an interrupted function is shown where it was") {
    Program program;
    program.words = {0, 250, 360};
    program.rules = {{100, frame_of(2)}, {200, frame_of(1)}, {300, outermost()}};
    program.rules[100].signal_frame = true;
    CHECK(program.walk(at(110, 1000)).addresses == Addresses{110, 250, 359});
}

TEST_CASE("a stack that is cut off or damaged ends") {
    Program program;
    program.rules = {{100, frame_of(3)}};
    program.words = {0, 0};
    CHECK(program.walk(at(110, 1000)).addresses == Addresses{110});
    CHECK_FALSE(program.walk(at(110, 1000)).whole);
    // A rule that does not lead outwards.
    program.words = {150, 150, 150};
    program.rules[100].frame = {{DW_OP_breg7, 0, 0}};
    program.rules[100].saved.back() = {UnwindRule::Kind::kAt, {{DW_OP_breg7, 0, 0}}};
    CHECK(program.walk(at(110, 1000)).addresses == Addresses{110});
    // Operations that are unknown, or have nothing to work on.
    for (const std::uint8_t code : {DW_OP_plus, DW_OP_deref, DW_OP_xderef, DW_OP_lo_user}) {
        program.rules[100].frame = {{code, 0, 0}};
        CHECK(program.walk(at(110, 1000)).addresses.size() == 1);
    }
}

TEST_CASE("unwind tables of a real file are read, and no file at all is none") {
    UnwindTables none("/nonexistent");
    CHECK_FALSE(none.rule_of(100).found);
    CHECK(none.address_of(77) == 77);
    UnwindTables self("/proc/self/exe");
    CHECK_FALSE(self.rule_of(0).found);
}

TEST_CASE("mappings replace what was there") {
    AddressSpace space;
    space.add({100, 200, 0, "a"});
    space.add({120, 140, 1000, "b"});
    REQUIRE(space.find(119) != nullptr);
    CHECK(space.find(119)->path == "a");
    CHECK(space.find(120)->path == "b");
    CHECK(space.find(140)->path == "a");
    CHECK(space.find(140)->position == 40);
    CHECK(space.find(200) == nullptr);
    CHECK(space.find(99) == nullptr);
    space.add({50, 400, 0, "c"});
    CHECK(space.find(130)->path == "c");
    space.add({300, 300, 0, "empty"});
    CHECK(space.find(300)->path == "c");
}

TEST_CASE("mappings of a process are read") {
    const AddressSpace space = read_maps(
        "55d0c000-55d0d000 r--p 00000000 08:01 12  /bin/a program\n"
        "55d0d000-55d0f000 r-xp 00001000 08:01 12  /bin/a program\n"
        "7ffe0000-7ffe2000 r-xp 00000000 00:00 0                          [vdso]\n"
        "7fff0000-7fff1000 r-xp 00000000 00:00 0\n"
        "damaged");
    CHECK(space.find(0x55d0c000) == nullptr);
    REQUIRE(space.find(0x55d0e000) != nullptr);
    CHECK(space.find(0x55d0e000)->path == "/bin/a program");
    CHECK(space.find(0x55d0e000)->position == 0x1000);
    CHECK(space.find(0x7ffe0000)->path == "[vdso]");
    CHECK(space.find(0x7fff0000)->path.empty());
}

TEST_CASE("the place of a sleeping thread is read") {
    const auto asleep =
        sleeping_registers("35 0x7ff 0x0 0x0 0x0 0x0 0x0 0x7ffdbeef10 0x7f12345678\n");
    REQUIRE(asleep);
    CHECK((*asleep)[kStackPointer] == 0x7ffdbeef10);
    CHECK((*asleep)[kReturnAddress] == 0x7f12345678);
    CHECK(sleeping_registers("-1 0x7ffdbeef10 0x7f12345678"));
    for (const char* text : {"", "running", "running\n", "0x1", "1 2 3", "1 0x 0x", "1 0x5z 0x5"})
        CHECK_FALSE(sleeping_registers(text));
}

TEST_CASE("paths share the paths of their callers, and are defined before they are used") {
    const std::string program = "a path of more than fourteen bytes";
    const std::string library = "lib";
    CallPaths paths;
    std::vector<trace::Record> records;
    const std::uint32_t outer = paths.path_of({{&program, 1}}, records);
    const std::uint32_t inner = paths.path_of({{&program, 1}, {&library, 2}}, records);
    CHECK(paths.path_of({}, records) == 0);
    CHECK(outer != inner);
    const std::size_t known = records.size();
    CHECK(paths.path_of({{&program, 1}, {&library, 2}}, records) == inner);
    CHECK(records.size() == known);
    // The same place below itself is another path.
    CHECK(paths.path_of({{&program, 1}, {&program, 1}}, records) > inner);

    std::vector<std::uint32_t> sites;
    std::vector<std::uint32_t> defined{0};
    std::string text;
    for (const trace::Record& record : records) {
        if (record.kind == trace::Kind::kText) text += trace::text_of(record);
        if (record.kind != trace::Kind::kDefine) continue;
        if (record.detail == static_cast<std::uint8_t>(trace::Defined::kSite)) {
            sites.push_back(record.a);
            continue;
        }
        CHECK(std::count(defined.begin(), defined.end(), trace::high(record.b)) == 1);
        CHECK(std::count(sites.begin(), sites.end(), trace::low(record.b)) == 1);
        defined.push_back(record.a);
    }
    CHECK(defined.size() == 4);
    CHECK(text == program + library);
}

namespace {

void append(std::vector<std::byte>& bytes, std::uint64_t word) {
    const auto* from = reinterpret_cast<const std::byte*>(&word);
    bytes.insert(bytes.end(), from, from + sizeof word);
}

std::vector<std::byte> record_of(std::uint32_t type, std::uint16_t misc,
                                 const std::vector<std::uint64_t>& words) {
    std::vector<std::byte> bytes;
    append(bytes, type | std::uint64_t{misc} << 32 | std::uint64_t{8 + 8 * words.size()} << 48);
    for (const std::uint64_t word : words) append(bytes, word);
    return bytes;
}

}  // namespace

TEST_CASE("records of the kernel are read, whatever is in them") {
    const std::uint64_t who = 41 | std::uint64_t{42} << 32;
    // Event, thread, time, registers (bx bp sp ip r12 r13 r14 r15), and two words of the stack, of
    // which one is filled.
    std::vector<std::byte> bytes =
        record_of(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
                  {9, who, 1234, PERF_SAMPLE_REGS_ABI_64, 1, 2, 3, 4, 5, 6, 7, 8, 16, 77, 78, 8});
    const auto lost = record_of(PERF_RECORD_LOST, 0, {9, 5, who, 1300, 9});
    bytes.insert(bytes.end(), lost.begin(), lost.end());
    std::vector<PerfEvent> events;
    read_perf_events(bytes, events);
    REQUIRE(events.size() == 2);
    CHECK(events[0].kind == PerfEvent::Kind::kSample);
    CHECK(events[0].event == 9);
    CHECK(events[0].process == 41);
    CHECK(events[0].thread == 42);
    CHECK(events[0].time == 1234);
    CHECK(events[0].stack.size() == 8);
    CHECK(events[1].kind == PerfEvent::Kind::kLost);
    CHECK(events[1].lost == 5);
    CHECK(events[1].time == 1300);

    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::byte> damaged = bytes;
        damaged.resize(random() % (bytes.size() + 1));
        for (int change = 0; change < 4 && !damaged.empty(); ++change)
            damaged[random() % damaged.size()] = static_cast<std::byte>(random());
        std::vector<PerfEvent> found;
        read_perf_events(damaged, found);
        CHECK(found.size() <= damaged.size() / 8);
    }
}
