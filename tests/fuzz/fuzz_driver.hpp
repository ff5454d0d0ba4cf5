// A small deterministic fuzzer: mutates the files of a corpus and hands each result to a target,
// which must not crash and whose promises must hold. Every input depends on seed and iteration
// only, so that one that failed can be made again. Apart from the targets, which know what is
// promised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace poe::fuzz {

// Runs one input through what is tested. Returns what is wrong, or nothing.
using Target = std::string (*)(const std::string& input);

struct FuzzTarget {
    std::string_view name;
    Target run;
    std::vector<std::string_view> dictionary;  // words that matter to it
};

// xorshift64*: small, good enough, the same on every computer.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
    std::uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1du;
    }
    // 0..limit-1; limit > 0.
    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() >> 16) % limit; }

  private:
    std::uint64_t state_;
};

// One corpus file after one to eight mutations. At most 16 KB long.
std::string mutated(const std::vector<std::string>& corpus,
                    const std::vector<std::string_view>& dictionary, Random& random);

// Runs the corpus as it is, then `iterations` mutations. Returns 0, or 1 after printing the first
// input that breaks a promise. A crash prints the iteration before it (see main).
int run_target(const FuzzTarget& target, const std::vector<std::string>& corpus, std::uint64_t seed,
               std::uint64_t iterations);

}  // namespace poe::fuzz
