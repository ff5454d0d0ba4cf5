// A task's row of the Program Marker Array in the node segment: lights, a line of text, progress.
// The task's own calls write it (markerarray/client/client.hpp), from any thread and any process of
// the task, at any rate. Watchers read it. Neither side waits for the other, and a writer that is
// killed in the middle of a write does no harm.
//
// A light is one byte, so one store sets it. `done` and `total` are separate words: for one
// picture, a reader may combine the new value of one with the old value of the other.
//
// A text is longer than one atomic store. Texts go to a ring of slots:
//   1. The writer draws the next number with one atomic addition.
//   2. The writer fills the slot of that number, unless the slot holds a later number. In that case
//      other writers have overtaken this one by a whole ring, and it leaves the slot alone.
//   3. A reader starts at the newest number and goes back until it finds a valid slot.
//
//   Invariant: a reader accepts a slot only if `check` is the sum of certify() over the head
//   (number and length) and the words that it has read. The sum is wrong for a slot that is being
//   written, for one whose writer was killed, and for one that two writers fill at once.
//
// The sum multiplies each word by an odd constant of its own. Texts that differ in one word never
// have the same sum; a mixture of two texts has it with probability 2^-64. A reader that finds no
// valid slot (because a writer writes all the time) keeps the text it has. One case remains: if a
// writer is stopped within its call while others write a whole ring, one text may be lost. Lights
// are never lost.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace poe {

inline constexpr int kMaxLights = 100;
inline constexpr int kMarkerColors = 103;  // 0..99 a spectrum, 100..102 greys
// At most 80 characters of a text are kept, and at most 240 bytes.
inline constexpr std::size_t kMarkerColumns = 80;
inline constexpr std::size_t kMarkerBytes = 240;

// A complete text and its number, counted from 1; number 0: no text has been set.
struct MarkerTextView {
    std::uint64_t number = 0;
    std::string text;
    bool operator==(const MarkerTextView&) const = default;
};

struct MarkerTextSlot {
    static constexpr std::size_t kWords = kMarkerBytes / sizeof(std::uint64_t);

    //   number 63..8 | bytes 7..0
    std::atomic<std::uint64_t> head{0};
    std::atomic<std::uint64_t> check{0};
    std::array<std::atomic<std::uint64_t>, kWords> words{};

    // Never blocks. Precondition: `text` has at most kMarkerBytes bytes.
    void write(std::uint64_t number, std::string_view text) noexcept {
        if (head.load(std::memory_order_relaxed) >> 8 > number) return;
        const std::uint64_t top = number << 8 | text.size();
        head.store(top, std::memory_order_relaxed);
        std::uint64_t sum = certify(0, top);
        for (std::size_t at = 0, i = 0; at < text.size(); at += sizeof(std::uint64_t), ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
            words[i].store(word, std::memory_order_relaxed);
            sum += certify(i + 1, word);
        }
        check.store(sum, std::memory_order_release);
    }

    // Returns the slot's text if the slot is valid and its number is at least `from`; empty
    // otherwise.
    std::optional<MarkerTextView> read(std::uint64_t from) const {
        const std::uint64_t sum = check.load(std::memory_order_acquire);
        const std::uint64_t top = head.load(std::memory_order_relaxed);
        const std::size_t bytes = top & 0xffu;
        if (top >> 8 < from || bytes > kMarkerBytes) return std::nullopt;
        std::uint64_t seen = certify(0, top);
        char text[kMarkerBytes];
        for (std::size_t at = 0, i = 0; at < bytes; at += sizeof(std::uint64_t), ++i) {
            const std::uint64_t word = words[i].load(std::memory_order_relaxed);
            std::memcpy(text + at, &word, sizeof word);
            seen += certify(i + 1, word);
        }
        if (seen != sum) return std::nullopt;
        return MarkerTextView{top >> 8, std::string(text, bytes)};
    }

  private:
    // The constants are splitmix64 of the position, made odd. A slot that was never written has
    // head 0 and check 0, which is a valid sum. read() rejects it, because its number is 0 and
    // numbers start at 1.
    static constexpr std::uint64_t factor(std::size_t position) noexcept {
        std::uint64_t z = (position + 1) * 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return (z ^ (z >> 31)) | 1u;
    }
    static std::uint64_t certify(std::size_t position, std::uint64_t word) noexcept {
        static constexpr auto kFactors = [] {
            std::array<std::uint64_t, kWords + 1> factors{};
            for (std::size_t i = 0; i <= kWords; ++i) factors[i] = factor(i);
            return factors;
        }();
        return word * kFactors[position];
    }
};

struct MarkerRow {
    static constexpr std::size_t kSlots = 4;

    // Colour + 1; 0: never set.
    alignas(64) std::array<std::atomic<std::uint8_t>, kMaxLights> lights;
    // 1 + the number of the task's lights (MP_PMLIGHTS); 0: the task has not set it.
    std::atomic<std::uint8_t> width;
    std::atomic<std::uint64_t> last;   // number of the latest text, from 1 on
    std::atomic<std::uint64_t> done;   // progress: `done` units out of
    std::atomic<std::uint64_t> total;  // `total`; 0: no total set
    std::array<MarkerTextSlot, kSlots> texts;

    // For writers. No function blocks, makes a system call or fails.
    void set_light(std::size_t light, std::uint8_t color) noexcept {
        lights[light].store(static_cast<std::uint8_t>(color + 1), std::memory_order_release);
    }
    void set_text(std::string_view text) noexcept {
        const std::uint64_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
        texts[number % kSlots].write(number, text);
    }
    void set_progress(std::uint64_t now_done, std::uint64_t of) noexcept {
        total.store(of, std::memory_order_release);
        done.store(now_done, std::memory_order_release);
    }

    // Returns the newest valid text, with number 0 if none was ever set. Empty if no slot is valid
    // now.
    std::optional<MarkerTextView> text() const {
        constexpr int kAttempts = 50;
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
            const std::uint64_t newest = last.load(std::memory_order_acquire);
            if (newest == 0) return MarkerTextView{};
            for (std::uint64_t back = 0; back < kSlots && back < newest; ++back)
                if (auto found = texts[(newest - back) % kSlots].read(newest - back)) return found;
        }
        return std::nullopt;
    }
};
static_assert(sizeof(MarkerTextSlot) == 256 && sizeof(MarkerRow) == 128 + 4 * 256);

}  // namespace poe
