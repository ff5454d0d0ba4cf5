// OracleType: a datatype as the standard defines it, a list of basic types with displacements and
// of bound markers (MPI 5.0, section 5.1). Every constructor expands the list naively. Nothing here
// uses the code under test but the table of predefined datatypes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpi/datatype/predefined.hpp"

struct OracleType {
    struct Entry {
        std::int64_t at;
        int code;
        std::int64_t size;
        std::int64_t alignment;
    };
    std::vector<Entry> entries;
    std::vector<std::int64_t> lower_markers;
    std::vector<std::int64_t> upper_markers;

    static Entry entry(std::int64_t at, int code) {
        const auto* type = poe::mpi::find_predefined_type(static_cast<std::uintptr_t>(code));
        return {at, code, type->size, type->alignment};
    }

    // `code` must not be a pair.
    static OracleType basic(int code) {
        OracleType type;
        type.entries.push_back(entry(0, code));
        return type;
    }

    std::int64_t true_lower() const {
        if (entries.empty()) return 0;
        std::int64_t lower = entries[0].at;
        for (const Entry& e : entries) lower = std::min(lower, e.at);
        return lower;
    }
    std::int64_t true_upper() const {
        if (entries.empty()) return 0;
        std::int64_t upper = entries[0].at + entries[0].size;
        for (const Entry& e : entries) upper = std::max(upper, e.at + e.size);
        return upper;
    }
    std::int64_t lower() const {
        if (lower_markers.empty()) return true_lower();
        return *std::min_element(lower_markers.begin(), lower_markers.end());
    }
    std::int64_t upper() const {
        if (!upper_markers.empty()) {
            return *std::max_element(upper_markers.begin(), upper_markers.end());
        }
        std::int64_t alignment = 1;
        for (const Entry& e : entries) alignment = std::max(alignment, e.alignment);
        std::int64_t upper = true_upper();
        while ((upper - lower()) % alignment != 0) ++upper;
        return upper;
    }
    std::int64_t extent() const { return upper() - lower(); }
    std::int64_t size() const {
        std::int64_t size = 0;
        for (const Entry& e : entries) size += e.size;
        return size;
    }

    // Appends `count` consecutive copies of `other` at `at` bytes.
    void append(const OracleType& other, std::int64_t at, std::int64_t count = 1) {
        const std::int64_t distance = other.extent();
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t shift = at + i * distance;
            for (Entry e : other.entries) {
                e.at += shift;
                entries.push_back(e);
            }
            for (const std::int64_t marker : other.lower_markers) {
                lower_markers.push_back(marker + shift);
            }
            for (const std::int64_t marker : other.upper_markers) {
                upper_markers.push_back(marker + shift);
            }
        }
    }

    OracleType resized(std::int64_t lower_bound, std::int64_t new_extent) const {
        OracleType type = *this;
        type.lower_markers = {lower_bound};
        type.upper_markers = {lower_bound + new_extent};
        return type;
    }

    // The displacement of every byte of the packed form of `count` elements.
    std::vector<std::int64_t> addresses(std::int64_t count) const {
        std::vector<std::int64_t> result;
        const std::int64_t distance = extent();
        for (std::int64_t i = 0; i < count; ++i) {
            for (const Entry& e : entries) {
                for (std::int64_t b = 0; b < e.size; ++b) {
                    result.push_back(i * distance + e.at + b);
                }
            }
        }
        return result;
    }
};
