// EngineEvents: what the message layer and the collective operations tell a tool about, one kind of
// event per row of the table in mpi/tool/event_types.cpp. The engine knows neither the tool nor
// MPI: it raises an event with its elements as words, and the listener gives them a meaning.
//
// An event is raised only where the engine is slow anyway: where a message goes into buffer memory,
// where a long message is accepted, where a call's way is decided. While no tool wants events of a
// kind, raise() is one load and one branch that is never taken.
//
// The thread that raises an event has the turn (comm/progress/runtime_lock.hpp) if the process
// exchanges messages. Therefore events are raised one at a time.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>

namespace poe {

enum class EngineEvent : std::uint8_t {
    kUnexpectedArrived,  // a message has arrived or was announced that no receive matches
    kUnexpectedMatched,  // a receive takes such a message
    kAnnouncedAccepted,  // an announced message has a receive, and its bytes are about to come
    kPathDecided,        // the path for blocking collective calls of a shape
    kAlgorithmChosen,    // the algorithm for collective calls of a shape by messages
    kErrorRaised,        // a call has an error; raised by the library of entry points
};
inline constexpr std::size_t kEngineEvents = 6;

// An element of an event: a whole number, a floating-point number, or the address of a text that
// stays valid until the process ends.
using EventWord = std::uint64_t;
constexpr EventWord word_of(std::integral auto value) noexcept {
    return static_cast<EventWord>(value);
}
constexpr EventWord word_of(double value) noexcept {
    return std::bit_cast<EventWord>(value);
}
inline EventWord word_of(const char* text) noexcept {
    return reinterpret_cast<std::uintptr_t>(text);
}

class EngineEvents {
  public:
    // Gets an event while it is raised. It must not block for long and must not call the engine.
    using Listener = void (*)(EngineEvent event, std::span<const EventWord> elements) noexcept;

    // For the thread that has the turn.
    template <typename... Values>
    void raise(EngineEvent event, Values... values) const noexcept {
        if (is_wanted(event)) [[unlikely]]
            pass_on(event, values...);
    }
    bool is_wanted(EngineEvent event) const noexcept {
        return (wanted_.load(std::memory_order_relaxed) & bit_of(event)) != 0;
    }

    // For any thread. Events of this kind go to the listener from now on, or no longer. An event
    // that is being raised at this moment may still go there.
    void want(EngineEvent event, bool wanted, Listener listener) noexcept {
        listener_.store(listener, std::memory_order_relaxed);
        if (wanted) {
            wanted_.fetch_or(bit_of(event), std::memory_order_release);
        } else {
            wanted_.fetch_and(~bit_of(event), std::memory_order_release);
        }
    }

  private:
    // The second load sees the listener that was stored before the flag.
    template <typename... Values>
    [[gnu::noinline, gnu::cold]] void pass_on(EngineEvent event, Values... values) const noexcept {
        if ((wanted_.load(std::memory_order_acquire) & bit_of(event)) == 0) return;
        const std::array<EventWord, sizeof...(values)> elements{word_of(values)...};
        listener_.load(std::memory_order_relaxed)(event, elements);
    }
    static constexpr std::uint32_t bit_of(EngineEvent event) noexcept {
        return 1u << static_cast<unsigned>(event);
    }

    std::atomic<std::uint32_t> wanted_{0};
    std::atomic<Listener> listener_{nullptr};
};

}  // namespace poe
