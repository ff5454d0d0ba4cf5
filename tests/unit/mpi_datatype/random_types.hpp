// RandomTypes: nested datatypes by random constructors, each together with the oracle that says
// what it must be.
#pragma once

#include <random>

#include "tests/unit/mpi_datatype/datatype_support.hpp"

namespace datatype_tests {

struct RandomType {
    Type type;
    OracleType oracle;
};

class RandomTypes {
  public:
    explicit RandomTypes(std::uint64_t seed) : random_(seed) {}

    std::int64_t number(std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution<std::int64_t>(from, to)(random_);
    }

    RandomType make(int depth) {
        if (depth == 0) return basic_type();
        RandomType old = make(depth - 1);
        // Types grow with each level; larger ones than this make the test slow, not better.
        if (old.oracle.entries.size() > 150) return old;
        switch (number(0, 10)) {
            case 0:
                return contiguous(old);
            case 1:
                return vector(old);
            case 2:
                return hvector(old);
            case 3:
            case 4:
                return indexed(old);
            case 5:
                return indexed_block(old);
            case 6:
            case 7:
                return structure(old, make(depth - 1));
            case 8:
                return resized(old);
            case 9:
                return subarray(old);
            default:
                return darray(old);
        }
    }

  private:
    // A type with one basic type; derived, so that the caller owns it.
    RandomType basic_type() {
        static constexpr int kCodes[] = {0x243,          code::kShort,    code::kInt,
                                         code::kLong,    code::kFloat,    code::kDouble,
                                         code::kInteger, 0x216,           code::kLongDouble,
                                         code::kByte,    code::kInteger2, code::kWchar};
        const int code = kCodes[static_cast<std::size_t>(number(0, std::ssize(kCodes) - 1))];
        return {made(type_dup, basic(code)), OracleType::basic(code)};
    }

    Form form() { return number(0, 1) == 0 ? Form::kInt : Form::kLarge; }

    RandomType contiguous(const RandomType& old) {
        const std::int64_t count = number(0, 4);
        RandomType result{made(type_contiguous, form(), count, *old.type), {}};
        result.oracle.append(old.oracle, 0, count);
        return result;
    }

    RandomType vector(const RandomType& old) {
        const std::int64_t count = number(0, 4);
        const std::int64_t length = number(0, 3);
        const std::int64_t stride = number(-5, 7);
        RandomType result{made(type_vector, form(), count, length, stride, *old.type), {}};
        for (std::int64_t i = 0; i < count; ++i) {
            result.oracle.append(old.oracle, i * stride * old.oracle.extent(), length);
        }
        return result;
    }

    RandomType hvector(const RandomType& old) {
        const std::int64_t count = number(0, 4);
        const std::int64_t length = number(0, 3);
        const std::int64_t stride = number(-60, 90);
        RandomType result{made(type_create_hvector, form(), count, length, stride, *old.type), {}};
        for (std::int64_t i = 0; i < count; ++i) {
            result.oracle.append(old.oracle, i * stride, length);
        }
        return result;
    }

    Large numbers(std::int64_t n, std::int64_t from, std::int64_t to) {
        Large list;
        for (std::int64_t i = 0; i < n; ++i) list.push_back(number(from, to));
        return list;
    }

    RandomType indexed(const RandomType& old) {
        const std::int64_t count = number(0, 6);
        const Large lengths = numbers(count, 0, 3);
        const bool bytes = number(0, 1) == 1;
        const Large places = bytes ? numbers(count, -100, 200) : numbers(count, -4, 8);
        RandomType result{made(bytes ? type_create_hindexed : type_indexed, form(), count,
                               counts(lengths), counts(places), *old.type),
                          {}};
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            result.oracle.append(old.oracle, places[i] * (bytes ? 1 : old.oracle.extent()),
                                 lengths[i]);
        }
        return result;
    }

    RandomType indexed_block(const RandomType& old) {
        const std::int64_t count = number(0, 6);
        const std::int64_t length = number(0, 3);
        const bool bytes = number(0, 1) == 1;
        const Large places = bytes ? numbers(count, -100, 200) : numbers(count, -4, 8);
        RandomType result{made(bytes ? type_create_hindexed_block : type_create_indexed_block,
                               form(), count, length, counts(places), *old.type),
                          {}};
        for (const std::int64_t place : places) {
            result.oracle.append(old.oracle, place * (bytes ? 1 : old.oracle.extent()), length);
        }
        return result;
    }

    RandomType structure(const RandomType& a, const RandomType& b) {
        const std::int64_t count = number(0, 5);
        const Large lengths = numbers(count, 0, 2);
        const Large places = numbers(count, -80, 200);
        std::vector<const RandomType*> chosen;
        std::vector<Datatype*> types;
        for (std::int64_t i = 0; i < count; ++i) {
            chosen.push_back(number(0, 1) == 0 ? &a : &b);
            types.push_back(chosen.back()->type.get());
        }
        RandomType result{
            made(type_create_struct, form(), count, counts(lengths), counts(places), types.data()),
            {}};
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            result.oracle.append(chosen[i]->oracle, places[i], lengths[i]);
        }
        return result;
    }

    RandomType resized(const RandomType& old) {
        const std::int64_t lower = number(-30, 30);
        const std::int64_t extent = number(0, 3) == 0 ? old.oracle.size() : number(-60, 120);
        return {made(type_create_resized, form(), *old.type, lower, extent),
                old.oracle.resized(lower, extent)};
    }

    RandomType subarray(const RandomType& old) {
        const auto ndims = static_cast<int>(number(1, 3));
        const Large sizes = numbers(ndims, 1, 4);
        Large parts;
        Large starts;
        for (const std::int64_t size : sizes) {
            parts.push_back(number(1, size));
            starts.push_back(number(0, size - parts.back()));
        }
        const int order = number(0, 1) == 0 ? kOrderC : kOrderFortran;
        return {made(type_create_subarray, form(), ndims, counts(sizes), counts(parts),
                     counts(starts), order, *old.type),
                select(old.oracle, sizes, order, [&](std::size_t dimension, std::int64_t index) {
                    return index >= starts[dimension] &&
                           index < starts[dimension] + parts[dimension];
                })};
    }

    RandomType darray(const RandomType& old) {
        const auto ndims = static_cast<int>(number(1, 3));
        const Large sizes = numbers(ndims, 1, 6);
        std::vector<int> processes, kinds, arguments;
        int size = 1;
        for (int i = 0; i < ndims; ++i) {
            kinds.push_back(static_cast<int>(number(kDistributeNone, kDistributeCyclic)));
            processes.push_back(kinds.back() == kDistributeNone ? 1
                                                                : static_cast<int>(number(1, 3)));
            const std::int64_t least =
                kinds.back() == kDistributeBlock
                    ? (sizes[static_cast<std::size_t>(i)] + processes.back() - 1) / processes.back()
                    : 1;
            arguments.push_back(number(0, 2) == 0 ? kDistributeDefaultArgument
                                                  : static_cast<int>(least + number(0, 2)));
            size *= processes.back();
        }
        const int rank = static_cast<int>(number(0, size - 1));
        std::vector<int> place(static_cast<std::size_t>(ndims));
        for (int i = ndims - 1, left = rank; i >= 0; --i) {
            const auto at = static_cast<std::size_t>(i);
            place[at] = left % processes[at];
            left /= processes[at];
        }
        const int order = number(0, 1) == 0 ? kOrderC : kOrderFortran;
        const auto mine = [&](std::size_t d, std::int64_t index) {
            std::int64_t block = arguments[d];
            if (kinds[d] == kDistributeNone) return true;
            if (arguments[d] == kDistributeDefaultArgument) {
                block = kinds[d] == kDistributeCyclic
                            ? 1
                            : (sizes[d] + processes[d] - 1) / processes[d];
            }
            return index / block % processes[d] == place[d];
        };
        return {made(type_create_darray, form(), size, rank, ndims, counts(sizes), kinds.data(),
                     arguments.data(), processes.data(), order, *old.type),
                select(old.oracle, sizes, order, mine)};
    }

    // The elements of an array for which `mine(dimension, index)` is true in each dimension.
    template <typename Mine>
    static OracleType select(const OracleType& old, const Large& sizes, int order, Mine mine) {
        OracleType result;
        std::int64_t total = 1;
        const std::int64_t distance = old.extent();
        for (const std::int64_t size : sizes) total *= size;
        for (std::int64_t at = 0; at < total; ++at) {
            bool chosen = true;
            std::int64_t left = at;
            for (std::size_t step = 0; step < sizes.size(); ++step) {
                const std::size_t d = order == kOrderFortran ? step : sizes.size() - 1 - step;
                chosen = chosen && mine(d, left % sizes[d]);
                left /= sizes[d];
            }
            if (chosen) result.append(old, at * distance);
        }
        return result.resized(0, total * distance);
    }

    std::mt19937_64 random_;
};

}  // namespace datatype_tests
