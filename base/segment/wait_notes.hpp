// Notes that a waiting task leaves in its slot in addition to the call it is in
// (task_activity.hpp), so that a watcher can distinguish a wait that cannot end from one that takes
// long. Only the task itself writes them, and only in waits that have lasted a while.
//
//   WaitPulse        times of the last movement and of the last poll since that found nothing
//   AwaitedWords     the peer it waits for, also within a collective call or for a request
//   UnexpectedNotes  the messages that have arrived and have not been received
//   ContextName      the name of the communicator of its call
//
// Suppose that the last movement was a time T ago and that a later poll found nothing. Then the
// task has been waiting during all of T, and it runs (it is neither stopped nor starved). If this
// is true of every task of a set, and no task outside the set can wake one of them, then none of
// them will ever continue: all were waiting T ago, and each has polled since
// (partition_manager/status/wait_graph.hpp).
//
// The task writes in the order pulse, awaited, notes, and then pulse again with the time of a poll.
// A reader that finds the same movement before and after has read words that belong together.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/collective_progress.hpp"
#include "base/types.hpp"

namespace poe {

// Milliseconds since the creation of the segment, modulo 2^32. Differences are valid for 49 days.
struct WaitMoments {
    std::uint32_t moved_ms = 0;   // the wait began or something moved; 0: never waited long
    std::uint32_t looked_ms = 0;  // start of the last poll that found nothing; 0: none since
    bool operator==(const WaitMoments&) const = default;
};

//   moved 63..32 | looked 31..0
struct WaitPulse {
    std::atomic<std::uint64_t> word{0};

    void moved(std::uint32_t now_ms) noexcept {
        word.store(static_cast<std::uint64_t>(now_ms | 1u) << 32, std::memory_order_release);
    }
    void looked(std::uint32_t began_ms) noexcept {
        const std::uint64_t moved = word.load(std::memory_order_relaxed) & ~0xffffffffull;
        word.store(moved | began_ms | 1u, std::memory_order_release);
    }
    WaitMoments read() const noexcept {
        const std::uint64_t now = word.load(std::memory_order_acquire);
        return {static_cast<std::uint32_t>(now >> 32), static_cast<std::uint32_t>(now)};
    }
};

struct Awaited {
    enum class Kind : std::uint8_t {
        kUnknown = 0,  // any task may end the wait
        kRoom = 1,     // `peer` must accept a message: no buffer is free, or it is long
        kMessage = 2,  // a message from `peer` (or from any task)
        kRest = 3,     // the rest of a message that has begun to arrive from `peer`
        kAll = 4,      // all tasks must make the same call, or end
    };
    static constexpr TaskId kAnybody = -1;

    Kind kind = Kind::kUnknown;
    TaskId peer = kAnybody;
    std::int32_t type = -1;         // type of the message; -1: any
    std::uint32_t context = 0;      // its matching context
    CollectiveProgress progress{};  // of the collective call around the wait

    bool operator==(const Awaited&) const = default;
};

//   word:     type 63..32 | peer 31..8 | kind 7..0
//   context:  word_of() of the progress 63..32 | context 31..0
struct AwaitedWords {
    std::atomic<std::uint64_t> word{0};
    std::atomic<std::uint64_t> context{0};

    void set(const Awaited& awaited) noexcept {
        context.store(static_cast<std::uint64_t>(word_of(awaited.progress)) << 32 | awaited.context,
                      std::memory_order_release);
        word.store(static_cast<std::uint64_t>(static_cast<std::uint32_t>(awaited.type)) << 32 |
                       (static_cast<std::uint64_t>(awaited.peer) & 0xffffffu) << 8 |
                       static_cast<std::uint64_t>(awaited.kind),
                   std::memory_order_release);
    }
    void clear() noexcept {
        context.store(0, std::memory_order_release);
        word.store(0, std::memory_order_release);
    }
    // Any content decodes to a valid value.
    Awaited read() const noexcept {
        const std::uint64_t now = word.load(std::memory_order_acquire);
        Awaited awaited;
        const std::uint64_t about = context.load(std::memory_order_acquire);
        awaited.progress = progress_of(static_cast<std::uint32_t>(about >> 32));
        const std::uint64_t kind = now & 0xffu;
        if (kind == 0 || kind > static_cast<std::uint64_t>(Awaited::Kind::kAll)) return awaited;
        awaited.kind = static_cast<Awaited::Kind>(kind);
        const auto peer = static_cast<std::uint32_t>(now >> 8 & 0xffffffu);
        awaited.peer = peer == 0xffffffu ? Awaited::kAnybody : static_cast<TaskId>(peer);
        awaited.type = static_cast<std::int32_t>(now >> 32);
        awaited.context = static_cast<std::uint32_t>(about);
        return awaited;
    }
};

// A short text: the name of the communicator of the call that waits; empty: it has none. A reader
// may find a mixture of two names if the task moves on meanwhile.
struct ContextName {
    static constexpr std::size_t kBytes = 32;
    std::array<std::atomic<std::uint64_t>, kBytes / sizeof(std::uint64_t)> words{};

    // Longer names are cut.
    void write(std::string_view name) noexcept {
        std::array<std::uint64_t, kBytes / sizeof(std::uint64_t)> text{};
        std::memcpy(text.data(), name.data(), name.size() < kBytes ? name.size() : kBytes);
        for (std::size_t i = 0; i < words.size(); ++i)
            words[i].store(text[i], std::memory_order_relaxed);
    }
    std::string read() const {
        std::array<std::uint64_t, kBytes / sizeof(std::uint64_t)> text{};
        for (std::size_t i = 0; i < words.size(); ++i)
            text[i] = words[i].load(std::memory_order_relaxed);
        const auto* start = reinterpret_cast<const char*>(text.data());
        return {start, ::strnlen(start, kBytes)};
    }
};

// A message that has arrived or was announced, and for which no receive has been posted.
struct UnexpectedNote {
    TaskId source = 0;
    std::int32_t type = 0;
    Bytes length = 0;
    std::uint32_t context = 0;
    bool operator==(const UnexpectedNote&) const = default;
};

// The result of a read: up to kMost notes, and the number of all such messages.
struct UnexpectedView {
    static constexpr std::size_t kMost = 7;

    std::uint32_t count = 0;
    std::uint32_t noted = 0;
    std::array<UnexpectedNote, kMost> notes{};

    std::span<const UnexpectedNote> all() const noexcept { return {notes.data(), noted}; }
    bool operator==(const UnexpectedView&) const = default;
};

// A sequence lock with one writer, the owner of the slot. `sequence` is odd while the notes are
// being written, and has a new value afterwards. Every word is an atomic, so a reader never sees
// half of one; a reader that was disturbed reads again. If the writer dies in between, `sequence`
// stays odd.
struct UnexpectedNotes {
    struct Words {
        std::atomic<std::uint64_t> source_type{0};
        std::atomic<std::uint64_t> length{0};
        std::atomic<std::uint64_t> context{0};
    };
    std::atomic<std::uint32_t> sequence{0};
    std::atomic<std::uint32_t> count{0};
    std::array<Words, UnexpectedView::kMost> words{};

    // Never blocks. Writes nothing if there were no messages before and are none now.
    void write(const UnexpectedView& view) noexcept {
        if (view.count == 0 && count.load(std::memory_order_relaxed) == 0) return;
        const std::uint32_t before = sequence.load(std::memory_order_relaxed);
        sequence.store(before | 1u, std::memory_order_relaxed);
        // Release stores: none of them can become visible before the odd number.
        count.store(view.count, std::memory_order_release);
        for (std::size_t i = 0; i < words.size(); ++i) {
            const UnexpectedNote note =
                i < view.noted ? view.notes[i] : UnexpectedNote{-1, 0, 0, 0};
            words[i].source_type.store(
                static_cast<std::uint64_t>(static_cast<std::uint32_t>(note.source)) << 32 |
                    static_cast<std::uint32_t>(note.type),
                std::memory_order_release);
            words[i].length.store(note.length, std::memory_order_release);
            words[i].context.store(note.context, std::memory_order_release);
        }
        sequence.store((before | 1u) + 1, std::memory_order_release);
    }

    // Returns an empty value if the writer disturbed every attempt. Acquire loads: none of them can
    // be moved after the second load of `sequence`.
    std::optional<UnexpectedView> read() const noexcept {
        constexpr int kAttempts = 100;
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
            const std::uint32_t before = sequence.load(std::memory_order_acquire);
            if (before % 2 != 0) continue;
            UnexpectedView view;
            view.count = count.load(std::memory_order_acquire);
            for (const Words& word : words) {
                const std::uint64_t from = word.source_type.load(std::memory_order_acquire);
                const Bytes length = word.length.load(std::memory_order_acquire);
                const std::uint64_t context = word.context.load(std::memory_order_acquire);
                const auto source = static_cast<TaskId>(from >> 32);
                if (source < 0 || view.noted >= view.count) continue;
                view.notes[view.noted++] = {source, static_cast<std::int32_t>(from), length,
                                            static_cast<std::uint32_t>(context)};
            }
            if (sequence.load(std::memory_order_relaxed) == before) return view;
        }
        return std::nullopt;
    }
};

}  // namespace poe
