// A task's row of the Program Marker Array in the node segment: lights, a line of text, progress.
// Written by the task's own calls (markerarray/client/client.hpp), from any thread and any of its
// processes, at any rate; read by whoever watches. Nobody waits for anybody, and a writer that is
// killed half-way does no harm.
//
// A light is one byte: a store. `done` and `total` are words of their own: a reader may see one of
// now with the other of before, for one picture.
//
// A text is longer than what the processor writes at once. It goes to one of a ring of slots: the
// writer draws the next number (one atomic addition) and fills the slot of that number.
//
//   Invariant: a reader takes a slot only if `check` is the sum certify() over the head (number and
//   length) and the words that it has read. A slot that is being written, that was left half-way,
//   or that two writers fill at once (one was overtaken by a whole ring) does not add up, and the
//   reader goes on to the slot of the number before.
//
// The sum multiplies each word by an odd constant of its own: texts that differ in one word never
// have the same sum, a mixture of two texts has with probability 2^-64. A reader that finds no slot
// (a writer that does nothing but write) keeps what it had. A writer that finds a later number in
// its slot has been overtaken and leaves the slot alone. What remains: a writer that is stopped
// inside of its call while others write a whole ring may spoil one text; lights are never lost.
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
// What is kept of a text: 80 characters of at most three bytes, the rest when they are longer.
inline constexpr std::size_t kMarkerColumns = 80;
inline constexpr std::size_t kMarkerBytes = 240;

// A whole text, and how many there have been up to it; 0: none yet.
struct MarkerTextView {
    std::uint64_t number = 0;
    std::string text;
};

struct MarkerTextSlot {
    static constexpr std::size_t kWords = kMarkerBytes / sizeof(std::uint64_t);

    //   number 63..8 | bytes 7..0
    std::atomic<std::uint64_t> head{0};
    std::atomic<std::uint64_t> check{0};
    std::array<std::atomic<std::uint64_t>, kWords> words{};

    // Never waits. `text` has at most kMarkerBytes.
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

    // The whole text of this number or of a later one, if one is there.
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
    // The constants are splitmix64 of the position, made odd. No sum of a slot that was never
    // written is 0, as its head would have to be.
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
    // How many lights the task has (MP_PMLIGHTS) + 1; 0: it has not said.
    std::atomic<std::uint8_t> width;
    std::atomic<std::uint64_t> last;   // number of the latest text, from 1 on
    std::atomic<std::uint64_t> done;   // progress: `done` of
    std::atomic<std::uint64_t> total;  // `total`; 0: none told
    std::array<MarkerTextSlot, kSlots> texts;

    // The writer's side: none waits, makes a system call or fails.
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

    // The newest text that is whole; nothing when there is none just now.
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
