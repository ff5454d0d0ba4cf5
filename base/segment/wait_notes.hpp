// What a waiting task leaves in its slot besides the call it is in (task_doing.hpp), so that a
// watcher can tell a wait that cannot end from one that takes its time. The task itself writes all
// of this, and only in waits that have lasted a while.
//
//   WaitPulse        when anything moved last, and when the task last looked in vain after that
//   AwaitedWord      whom it waits for: inside a collective call, too, or for a request
//   UnexpectedNotes  the messages that it holds and has not asked for
//
// A wait whose last movement is T ago and whose last vain look is younger has been waiting all of
// T, and runs (is neither stopped nor starved). When that is true of every task of a set, and
// nobody outside the set can wake one of them, none of them will ever go on: all were waiting T
// ago, and each has looked since (partition_manager/status/wait_graph.hpp).
//
// Words are written in the order pulse, awaited, notes, pulse again with a look in it; a reader
// that finds the same movement before and after has read words that belong together.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.hpp"

namespace poe {

// Milliseconds since the creation of the segment, modulo 2^32. Differences are right for 49 days.
struct WaitMoments {
    std::uint32_t moved_ms = 0;   // the wait began or something moved; 0: never waited long
    std::uint32_t looked_ms = 0;  // the last look that found nothing began; 0: none since
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
        kUnknown = 0,  // anybody's doing may end the wait
        kRoom = 1,     // that `peer` takes a message: there is no buffer left, or it is a long one
        kMessage = 2,  // a message from `peer` (or anybody)
        kRest = 3,     // the rest of a message that has begun to arrive from `peer`
        kAll = 4,      // that all tasks make the same call, or end
    };
    static constexpr TaskId kAnybody = -1;

    Kind kind = Kind::kUnknown;
    TaskId peer = kAnybody;
    std::int32_t type = -1;  // of the message; -1: any

    bool operator==(const Awaited&) const = default;
};

//   type 63..32 | peer 31..8 | kind 7..0
struct AwaitedWord {
    std::atomic<std::uint64_t> word{0};

    void set(const Awaited& awaited) noexcept {
        word.store(static_cast<std::uint64_t>(static_cast<std::uint32_t>(awaited.type)) << 32 |
                       (static_cast<std::uint64_t>(awaited.peer) & 0xffffffu) << 8 |
                       static_cast<std::uint64_t>(awaited.kind),
                   std::memory_order_release);
    }
    void clear() noexcept { word.store(0, std::memory_order_release); }
    // Any content decodes.
    Awaited read() const noexcept {
        const std::uint64_t now = word.load(std::memory_order_acquire);
        Awaited awaited;
        const std::uint64_t kind = now & 0xffu;
        if (kind == 0 || kind > static_cast<std::uint64_t>(Awaited::Kind::kAll)) return awaited;
        awaited.kind = static_cast<Awaited::Kind>(kind);
        const auto peer = static_cast<std::uint32_t>(now >> 8 & 0xffffffu);
        awaited.peer = peer == 0xffffffu ? Awaited::kAnybody : static_cast<TaskId>(peer);
        awaited.type = static_cast<std::int32_t>(now >> 32);
        return awaited;
    }
};

// A message that has come or been announced and that nobody has asked for.
struct UnexpectedNote {
    TaskId source = 0;
    std::int32_t type = 0;
    Bytes length = 0;
    bool operator==(const UnexpectedNote&) const = default;
};

// What a reader gets: up to kMost notes, and how many messages there are.
struct UnexpectedView {
    static constexpr std::size_t kMost = 7;

    std::uint32_t count = 0;
    std::uint32_t noted = 0;
    std::array<UnexpectedNote, kMost> notes{};

    std::span<const UnexpectedNote> all() const noexcept { return {notes.data(), noted}; }
};

// One writer, the owner of the slot. A sequence lock: the number is odd while the notes are being
// written, and different afterwards. Every word is an atomic, so a reader never sees half of one;
// one that was disturbed reads again. A writer that dies in between leaves the number odd for ever.
struct UnexpectedNotes {
    struct Words {
        std::atomic<std::uint64_t> source_type{0};
        std::atomic<std::uint64_t> length{0};
    };
    std::atomic<std::uint32_t> sequence{0};
    std::atomic<std::uint32_t> count{0};
    std::array<Words, UnexpectedView::kMost> words{};

    // Never blocks. Writes nothing when there was nothing and is nothing.
    void write(const UnexpectedView& view) noexcept {
        if (view.count == 0 && count.load(std::memory_order_relaxed) == 0) return;
        const std::uint32_t before = sequence.load(std::memory_order_relaxed);
        sequence.store(before | 1u, std::memory_order_relaxed);
        // Stores with release: none of them can be seen before the odd number.
        count.store(view.count, std::memory_order_release);
        for (std::size_t i = 0; i < words.size(); ++i) {
            const UnexpectedNote note = i < view.noted ? view.notes[i] : UnexpectedNote{-1, 0, 0};
            words[i].source_type.store(
                static_cast<std::uint64_t>(static_cast<std::uint32_t>(note.source)) << 32 |
                    static_cast<std::uint32_t>(note.type),
                std::memory_order_release);
            words[i].length.store(note.length, std::memory_order_release);
        }
        sequence.store((before | 1u) + 1, std::memory_order_release);
    }

    // Nothing when the writer was at work each of several times. Loads with acquire: none of them
    // can be made after the second look at the number.
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
                const auto source = static_cast<TaskId>(from >> 32);
                if (source < 0 || view.noted >= view.count) continue;
                view.notes[view.noted++] = {source, static_cast<std::int32_t>(from), length};
            }
            if (sequence.load(std::memory_order_relaxed) == before) return view;
        }
        return std::nullopt;
    }
};

}  // namespace poe
