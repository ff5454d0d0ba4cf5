// See unwinder.hpp.
#include "partition_manager/sampling/unwinder.hpp"

#include <dwarf.h>

namespace poe::pm {
namespace {

using Value = std::optional<std::uint64_t>;

// Evaluates the operations that compilers and the C library use in unwind tables.
Value evaluate(const UnwindExpression& expression, const Registers& registers, Value frame,
               const UnwindSources& sources) {
    constexpr std::size_t kDeepest = 16;
    std::array<std::uint64_t, kDeepest> stack{};
    std::size_t depth = 0;
    for (const UnwindOperation& operation : expression) {
        const std::uint8_t code = operation.code;
        Value pushed;
        if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
            const unsigned number = code - DW_OP_breg0;
            if (!registers.has(number)) return std::nullopt;
            pushed = registers[number] + operation.first;
        } else if (code == DW_OP_bregx) {
            const auto number = static_cast<unsigned>(operation.first);
            if (!registers.has(number)) return std::nullopt;
            pushed = registers[number] + operation.second;
        } else if (code == DW_OP_call_frame_cfa) {
            if (!frame) return std::nullopt;
            pushed = *frame;
        } else if (code >= DW_OP_lit0 && code <= DW_OP_lit31) {
            pushed = code - DW_OP_lit0;
        } else if (code >= DW_OP_const1u && code <= DW_OP_consts) {
            pushed = operation.first;
        }
        if (pushed) {
            if (depth == kDeepest) return std::nullopt;
            stack[depth++] = *pushed;
            continue;
        }
        if (code == DW_OP_nop) continue;
        if (depth == 0) return std::nullopt;
        std::uint64_t& top = stack[depth - 1];
        if (code == DW_OP_plus_uconst) {
            top += operation.first;
            continue;
        }
        if (code == DW_OP_deref) {
            const Value word = sources.word_at(top);
            if (!word) return std::nullopt;
            top = *word;
            continue;
        }
        if (depth < 2) return std::nullopt;
        const std::uint64_t right = stack[--depth];
        std::uint64_t& left = stack[depth - 1];
        switch (code) {
            case DW_OP_plus:
                left += right;
                break;
            case DW_OP_minus:
                left -= right;
                break;
            case DW_OP_and:
                left &= right;
                break;
            case DW_OP_or:
                left |= right;
                break;
            case DW_OP_shl:
                left = right < 64 ? left << right : 0;
                break;
            case DW_OP_ge:
                left = static_cast<std::int64_t>(left) >= static_cast<std::int64_t>(right) ? 1 : 0;
                break;
            default:
                return std::nullopt;
        }
    }
    if (depth == 0) return std::nullopt;
    return stack[depth - 1];
}

struct Step {
    enum class Result { kCaller, kOutermost, kLost } result = Result::kLost;
    Registers caller;
};

Step by_rule(const UnwindRule& rule, const Registers& registers, const UnwindSources& sources) {
    Step step;
    const Value frame = evaluate(rule.frame, registers, std::nullopt, sources);
    if (!frame) return step;
    step.caller.set(kStackPointer, *frame);
    for (std::size_t i = 0; i < kSavedRegisters.size(); ++i) {
        const unsigned number = kSavedRegisters[i];
        const UnwindRule::Saved& saved = rule.saved[i];
        switch (saved.kind) {
            case UnwindRule::Kind::kUnknown:
                if (number != kReturnAddress) break;
                step.result = Step::Result::kOutermost;
                return step;
            case UnwindRule::Kind::kSame:
                if (number != kReturnAddress && registers.has(number))
                    step.caller.set(number, registers[number]);
                break;
            case UnwindRule::Kind::kAt:
            case UnwindRule::Kind::kValue: {
                Value value = evaluate(saved.expression, registers, frame, sources);
                if (value && saved.kind == UnwindRule::Kind::kAt) value = sources.word_at(*value);
                if (value) step.caller.set(number, *value);
                break;
            }
        }
    }
    if (!step.caller.has(kReturnAddress)) return step;
    // The interrupted function of a signal frame may be at any place of the stack.
    const bool goes_out = rule.signal_frame || *frame > registers[kStackPointer];
    if (goes_out) step.result = Step::Result::kCaller;
    return step;
}

Step by_frame_pointer(const Registers& registers, const UnwindSources& sources) {
    Step step;
    if (!registers.has(kFramePointer)) return step;
    const std::uint64_t frame = registers[kFramePointer];
    // The ABI marks the outermost function by frame 0; that of the dynamic loader has no tables.
    if (frame == 0) step.result = Step::Result::kOutermost;
    if (frame < registers[kStackPointer]) return step;
    const Value before = sources.word_at(frame);
    const Value back = sources.word_at(frame + 8);
    if (!before || !back || sources.rule_of(*back) == nullptr) return step;
    step.caller.set(kFramePointer, *before);
    step.caller.set(kReturnAddress, *back);
    step.caller.set(kStackPointer, frame + 16);
    step.result = Step::Result::kCaller;
    return step;
}

}  // namespace

StackWalk walk_stack(Registers registers, const UnwindSources& sources) {
    StackWalk walk;
    walk.addresses.push_back(registers[kReturnAddress]);
    bool called = false;  // the address is one to return to
    while (walk.addresses.size() < kDeepestStack) {
        const UnwindRule* rule = sources.rule_of(registers[kReturnAddress] - (called ? 1 : 0));
        const bool has_rule = rule != nullptr && rule->found;
        const Step step =
            has_rule ? by_rule(*rule, registers, sources) : by_frame_pointer(registers, sources);
        if (step.result == Step::Result::kLost) return walk;
        if (step.result == Step::Result::kOutermost || step.caller[kReturnAddress] == 0) {
            walk.whole = true;
            return walk;
        }
        called = !(has_rule && rule->signal_frame);
        registers = step.caller;
        walk.addresses.push_back(registers[kReturnAddress] - (called ? 1 : 0));
    }
    return walk;
}

}  // namespace poe::pm
