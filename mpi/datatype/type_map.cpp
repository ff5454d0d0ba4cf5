#include "mpi/datatype/type_map.hpp"

#include <algorithm>
#include <utility>

#include "mpi/datatype/basic_type.hpp"

namespace poe::mpi {

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) throw TypeTooLarge();
    return sum;
}

std::int64_t checked_subtract(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) throw TypeTooLarge();
    return difference;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) throw TypeTooLarge();
    return product;
}

std::int64_t TypeMap::lower_bound() const {
    return bounded ? bound_lower : true_lower_bound();
}

// Without explicit bounds the extent is rounded up to the strictest alignment.
std::int64_t TypeMap::upper_bound() const {
    if (bounded) return bound_upper;
    const std::int64_t length = true_extent();
    const std::int64_t padding = (alignment - length % alignment) % alignment;
    return checked_add(checked_add(true_lower_bound(), length), padding);
}

std::int64_t TypeMap::extent() const {
    return checked_subtract(upper_bound(), lower_bound());
}

std::int64_t TypeMap::true_extent() const {
    return size == 0 ? 0 : checked_subtract(data_upper, data_lower);
}

TypeMap basic_type_map(const PredefinedType& type) {
    TypeMap map;
    map.size = type.size;
    map.alignment = type.alignment;
    const BasicParts parts = basic_parts(type);
    NodeJoiner nodes(true);
    for (int i = 0; i < parts.count; ++i) {
        const Unit unit = parts.units[i];
        nodes.add(i == 0 ? 0 : type.second_offset, make_run(unit, unit.bytes));
        map.signature = map.signature.then(Signature::of(unit.basic));
        map.data_upper = (i == 0 ? 0 : type.second_offset) + unit.bytes;
    }
    map.elements = parts.count;
    map.data = nodes.finish();
    return map;
}

TypeMap displace(TypeMap map, std::int64_t displacement) {
    map.data.at += displacement;
    if (map.size != 0) {
        map.data_lower = checked_add(map.data_lower, displacement);
        map.data_upper = checked_add(map.data_upper, displacement);
    }
    if (map.bounded) {
        map.bound_lower = checked_add(map.bound_lower, displacement);
        map.bound_upper = checked_add(map.bound_upper, displacement);
    }
    return map;
}

TypeMap with_bounds(TypeMap map, std::int64_t lower, std::int64_t extent) {
    map.bounded = true;
    map.bound_lower = lower;
    map.bound_upper = checked_add(lower, extent);
    return map;
}

TypeMap replicate(const TypeMap& one, std::int64_t count) {
    return replicate(one, count, one.extent());
}

namespace {

// All of replicate() but the signature.
TypeMap replicate_data(const TypeMap& one, std::int64_t count, std::int64_t stride) {
    if (count == 0) return {};
    if (count == 1) return one;
    const std::int64_t last = checked_multiply(count - 1, stride);
    const std::int64_t down = std::min<std::int64_t>(last, 0);
    const std::int64_t up = std::max<std::int64_t>(last, 0);
    TypeMap map = one;
    map.size = checked_multiply(one.size, count);
    map.elements = one.elements * count;
    map.data = repeat(one.data, count, stride);
    if (one.size != 0) {
        map.data_lower = checked_add(one.data_lower, down);
        map.data_upper = checked_add(one.data_upper, up);
    }
    if (one.bounded) {
        map.bound_lower = checked_add(one.bound_lower, down);
        map.bound_upper = checked_add(one.bound_upper, up);
    }
    return map;
}

}  // namespace

TypeMap replicate(const TypeMap& one, std::int64_t count, std::int64_t stride) {
    TypeMap map = replicate_data(one, count, stride);
    map.signature = one.signature.times(count);
    return map;
}

void TypeMapJoiner::include_bounds(const TypeMap& map, std::int64_t displacement) {
    if (map.size != 0) {
        const std::int64_t lower = checked_add(map.data_lower, displacement);
        const std::int64_t upper = checked_add(map.data_upper, displacement);
        const bool first = result_.size == 0;
        result_.data_lower = first ? lower : std::min(result_.data_lower, lower);
        result_.data_upper = first ? upper : std::max(result_.data_upper, upper);
    }
    if (map.bounded) {
        const std::int64_t lower = checked_add(map.bound_lower, displacement);
        const std::int64_t upper = checked_add(map.bound_upper, displacement);
        result_.bound_lower = result_.bounded ? std::min(result_.bound_lower, lower) : lower;
        result_.bound_upper = result_.bounded ? std::max(result_.bound_upper, upper) : upper;
        result_.bounded = true;
    }
}

void TypeMapJoiner::add_signature() {
    if (copies_ != 0) result_.signature = result_.signature.then(source_->signature.times(copies_));
    copies_ = 0;
}

void TypeMapJoiner::add(const TypeMap& map, std::int64_t count, std::int64_t displacement) {
    if (count == 0) return;
    if (source_ != &map) {
        add_signature();
        source_ = &map;
        count_ = 0;
    }
    if (count != count_) {
        block_ = replicate_data(map, count, map.extent());
        count_ = count;
    }
    include_bounds(block_, displacement);
    result_.size = checked_add(result_.size, block_.size);
    result_.elements += block_.elements;
    // A type without data has no alignment to respect.
    if (map.size != 0) result_.alignment = std::max(result_.alignment, map.alignment);
    nodes_.add(displacement + block_.data.at, block_.data.node);
    copies_ += count;
}

TypeMap TypeMapJoiner::finish() {
    add_signature();
    result_.data = nodes_.finish();
    return std::move(result_);
}

}  // namespace poe::mpi
