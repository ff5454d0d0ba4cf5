// Functions of C for functions of the program that have no extra state: operations and error
// handlers.
//
// Our library calls a function with handles of ours, and the function of the program must get those
// of MPICH. A function of C with an extra state finds the one of the program there. These have
// none, so each gets a function of its own, one of a fixed number. A function of the program keeps
// it forever, and the next operation or error handler that is created from it uses the same one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "mpi/mpich_abi/mpich_types.hpp"

namespace poe::mpi::mpich {

// How many functions a program may use as operations; the same for error handlers of each kind of
// objects.
inline constexpr std::size_t kMaxFunctions = 256;

struct FunctionSlot {
    std::atomic<Function*> function{nullptr};
    std::atomic<Function*> proxy{nullptr};  // calls it if it is not a function of C
};

// `Kind` has the type Function, the function of C, and its template call<kNumber>.
template <typename Kind>
class FunctionSlots {
  public:
    static FunctionSlot& at(std::size_t number) noexcept { return slots[number]; }

    // Null if all are in use. Thread-safe.
    static typename Kind::Function* claim(mpich::Function* function) noexcept {
        static constexpr auto kFunctions =
            []<std::size_t... kNumbers>(std::index_sequence<kNumbers...>) {
            return std::array<typename Kind::Function*, kMaxFunctions>{
                &Kind::template call<kNumbers>...};
        }
        (std::make_index_sequence<kMaxFunctions>{});
        const std::lock_guard guard(lock);
        for (std::size_t i = 0; i < kMaxFunctions; ++i) {
            if (slots[i].function == nullptr) slots[i].function = function;
            if (slots[i].function == function) return kFunctions[last = i];
        }
        return nullptr;
    }

    // The slot that this thread has claimed last.
    static FunctionSlot& claimed() noexcept { return slots[last]; }

  private:
    static inline std::mutex lock;
    static inline std::array<FunctionSlot, kMaxFunctions> slots{};
    static inline thread_local std::size_t last = 0;
};

}  // namespace poe::mpi::mpich
