// Functions of C for functions of the program that have no extra state: operations and error
// handlers.
//
// Our library calls such a function with our handles, but the function of the program needs
// MPICH's. Between them is a function of C that converts the handles. It has no extra state that
// could tell which function of the program to call, so there is one for each: a fixed number of
// them exists, and a function of the program is assigned one of them at its first use, for as long
// as the process lives.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "interface/types.hpp"
#include "mpi/foreign_abi/library.hpp"
#include "mpi/foreign_abi/values.hpp"

namespace poe::mpi::foreign {

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
    static typename Kind::Function* claim(foreign::Function* function) noexcept {
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

    // Claims one for `function` and stores its function of C in `claimed`, or a null pointer if
    // `function` is one. Returns an error code of MPICH's interface.
    static int claim_for(foreign::Function* function, typename Kind::Function*& claimed) noexcept {
        claimed = function != nullptr ? claim(function) : nullptr;
        if (claimed != nullptr || function == nullptr) return MPI_SUCCESS;
        library.Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        return finish(MPI_ERR_NO_MEM);
    }

    // The slot that this thread has claimed last.
    static FunctionSlot& claimed() noexcept { return slots[last]; }

  private:
    static inline std::mutex lock;
    static inline std::array<FunctionSlot, kMaxFunctions> slots{};
    static inline thread_local std::size_t last = 0;
};

}  // namespace poe::mpi::foreign
