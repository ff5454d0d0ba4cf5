// OperationNumbers: gives the operations of a trace numbers by their keys, in the order in which
// they are first asked for. A table with open addressing in a LongVector, because there may be as
// many operations as records; a map of nodes would need memory for each.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "tracer/diagnosis/long_vector.hpp"

namespace poe::trace {

class OperationNumbers {
  public:
    // Returns the number of the key, and whether it is new.
    std::pair<std::uint32_t, bool> number_of(std::uint64_t key) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        Slot& slot = slot_of(key);
        if (slot.number != kFree) return {slot.number, false};
        slot = {key, used_++};
        return {slot.number, true};
    }
    // The bytes of a slot, of which there are two to four per operation.
    static constexpr std::size_t kSlotBytes = 2 * sizeof(std::uint64_t);

  private:
    static constexpr std::uint32_t kFree = 0xffffffff;
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t number = kFree;
    };
    static_assert(sizeof(Slot) == kSlotBytes);

    // The slot of the key, or the free one that is for it. The size is a power of two.
    Slot& slot_of(std::uint64_t key) {
        std::size_t at = (key * 0x9e3779b97f4a7c15u) >> (64 - std::countr_zero(slots_.size()));
        while (slots_[at].number != kFree && slots_[at].key != key)
            at = (at + 1) & (slots_.size() - 1);
        return slots_[at];
    }
    void grow() {
        constexpr std::size_t kFirst = 64;
        LongVector<Slot> before(slots_.empty() ? kFirst : 2 * slots_.size());
        std::swap(before, slots_);
        for (const Slot& slot : before)
            if (slot.number != kFree) slot_of(slot.key) = slot;
    }

    LongVector<Slot> slots_;
    std::uint32_t used_ = 0;
};

}  // namespace poe::trace
