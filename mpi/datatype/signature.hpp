// Signature: the sequence of basic types of a datatype, as a hash. The hash of a concatenation and
// of a repetition is computed from the hashes of the parts, so comparing a million copies of one
// type with a thousand copies of another takes the time of about forty multiplications.
//
// The hash of the codes c(0) ... c(n-1) is the polynomial c(0) x^(n-1) + ... + c(n-1) modulo the
// prime 2^61 - 1, at a fixed point x. Two different sequences of n types have equal hashes with a
// probability of about n / 2^61; nobody chooses types in order to deceive the check.
#pragma once

#include <cstdint>

namespace poe::mpi {

class Signature {
  public:
    constexpr Signature() = default;  // of no types

    // Returns the signature of one basic type. Requires 0 < code < 2^61 - 1.
    static constexpr Signature of(std::uint64_t code) noexcept {
        // Distinct small codes become distinct large numbers.
        return {multiply(code, 0x1fabc0ffee15dee1 % kPrime), kPoint, 1};
    }

    // This sequence followed by `next`.
    constexpr Signature then(const Signature& next) const noexcept {
        return {add(multiply(hash_, next.power_), next.hash_), multiply(power_, next.power_),
                types_ + next.types_};
    }

    // This sequence `count` times. Requires count >= 0.
    constexpr Signature times(std::int64_t count) const noexcept {
        Signature result;
        Signature square = *this;
        for (; count > 0; count >>= 1) {
            if (count & 1) result = result.then(square);
            square = square.then(square);
        }
        return result;
    }

    // A number that other tasks can compare with their own.
    constexpr std::uint64_t hash() const noexcept { return hash_ ^ (types_ << 40); }
    constexpr bool operator==(const Signature& other) const noexcept {
        return hash_ == other.hash_ && types_ == other.types_;
    }

  private:
    static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
    static constexpr std::uint64_t kPoint = 0x0e5c8b1d9f2a7364;

    constexpr Signature(std::uint64_t hash, std::uint64_t power, std::uint64_t types) noexcept
        : hash_(hash), power_(power), types_(types) {}

    static constexpr std::uint64_t add(std::uint64_t a, std::uint64_t b) noexcept {
        const std::uint64_t sum = a + b;
        return sum >= kPrime ? sum - kPrime : sum;
    }
    static constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(a) * b;
        return add(static_cast<std::uint64_t>(product & kPrime),
                   static_cast<std::uint64_t>(product >> 61));
    }

    std::uint64_t hash_ = 0;
    std::uint64_t power_ = 1;  // x to the number of types
    std::uint64_t types_ = 0;  // how many, modulo 2^64
};

}  // namespace poe::mpi
