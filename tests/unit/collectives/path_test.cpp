// select(): which path is taken, with a table of its own, and what the rows of the real table
// support.
#include "collectives/engine/path.hpp"

#include <catch2/catch.hpp>

#include "collectives/engine/paths.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

bool never(const Shape&, bool) {
    return false;
}
bool always(const Shape&, bool) {
    return true;
}
bool without_barrier(const Shape&, bool barrier) {
    return !barrier;
}

constexpr Path kTable[] = {
    {"unsuited", Transport::kShared, never, nullptr, nullptr, nullptr},
    {"fast", Transport::kShared, without_barrier, nullptr, nullptr, nullptr},
    {"slow", Transport::kShared, always, nullptr, nullptr, nullptr},
    {"single", Transport::kDirect, always, nullptr, nullptr, nullptr},
    {"levels", Transport::kMessages, without_barrier, nullptr, nullptr, nullptr},
    {"schedule", Transport::kMessages, always, nullptr, nullptr, nullptr},
};

// Selects with a group that lacks the memory for the named paths.
std::string selected(Transport wanted, bool barrier, std::initializer_list<std::string> lacking) {
    const SelectedPath path =
        select(kTable, Shape{}, barrier, wanted, [&](const Path& row, SelectedPath&) {
            for (const std::string& name : lacking)
                if (name == row.name) return false;
            return true;
        });
    return path.path->name;
}

std::string real_path(Operation operation, std::uint32_t n, Bytes bytes, Transport wanted,
                      bool barrier = false, Bytes element = 0) {
    Shape shape;
    shape.operation = operation;
    shape.n = n;
    shape.bytes = bytes;
    shape.element = element;
    shape.commutative = element > 0;
    const SelectedPath path = select(
        paths(), shape, barrier, wanted,
        [](const Path& row, SelectedPath&) { return std::string(row.name) != "hierarchical"; });
    return path.path->name;
}

}  // namespace

TEST_CASE("the first row that supports the call and has its memory is selected") {
    CHECK(selected(Transport::kShared, false, {}) == "fast");
    CHECK(selected(Transport::kShared, true, {}) == "slow");
    CHECK(selected(Transport::kShared, false, {"fast"}) == "slow");
    CHECK(selected(Transport::kShared, false, {"fast", "slow"}) == "single");
    CHECK(selected(Transport::kDirect, false, {}) == "single");
    CHECK(selected(Transport::kDirect, false, {"single"}) == "fast");
    CHECK(selected(Transport::kDirect, false, {"single", "fast", "slow"}) == "levels");
    CHECK(selected(Transport::kMessages, false, {}) == "levels");
    CHECK(selected(Transport::kMessages, true, {}) == "schedule");
    CHECK(selected(Transport::kShared, true, {"slow", "single"}) == "schedule");
}

TEST_CASE("the table has a path for every call") {
    for (std::size_t i = 0; i < kOperations; ++i) {
        const auto operation = static_cast<Operation>(i);
        for (const Bytes bytes : {0, 8, 56, 57, 1080, 1081, 65536, 1 << 20}) {
            for (const std::uint32_t n : {2, 3, 4, 5, 16}) {
                for (const bool barrier : {false, true}) {
                    CAPTURE(name_of(operation), bytes, n, barrier);
                    CHECK(real_path(operation, n, bytes, Transport::kMessages, barrier) ==
                          "schedule");
                    CHECK_FALSE(
                        real_path(operation, n, bytes, Transport::kShared, barrier).empty());
                }
            }
        }
    }
}

TEST_CASE("which shared-memory path calls take") {
    constexpr Transport kShared = Transport::kShared;
    CHECK(real_path(Operation::kSync, 4, 0, kShared) == "cache-line");
    CHECK(real_path(Operation::kSync, 5, 0, kShared) == "arrive-and-publish");
    CHECK(real_path(Operation::kCombine, 2, 56, kShared, false, 8) == "cache-line");
    CHECK(real_path(Operation::kCombine, 2, 64, kShared, false, 8) == "swap");
    CHECK(real_path(Operation::kCombine, 8, 64, kShared, false, 8) == "arrive-and-publish");
    CHECK(real_path(Operation::kCombine, 8, 65536, kShared, false, 8) == "copy-in-out");
    CHECK(real_path(Operation::kCombine, 2, 65536, kShared, false, 8) == "pairwise");
    CHECK(real_path(Operation::kReduce, 8, 8, kShared, false, 8) == "pipelined-reduce");
    CHECK(real_path(Operation::kReduce, 4, 8, kShared, true, 8) == "cache-line");
    // A user's function gets whole vectors, so long ones are reduced by messages.
    CHECK(real_path(Operation::kReduce, 8, 65536, kShared) == "schedule");
    CHECK(real_path(Operation::kBcast, 8, 8, kShared) == "from-root");
    CHECK(real_path(Operation::kBcast, 8, 8, kShared, true) == "schedule");
    CHECK(real_path(Operation::kBcast, 8, 65536, kShared) == "copy-in-out");
    CHECK(real_path(Operation::kGather, 8, 8, kShared) == "gather");
    CHECK(real_path(Operation::kGather, 8, 8, kShared, true) == "arrive-and-publish");
    CHECK(real_path(Operation::kShift, 8, 8, kShared) == "shift");
    CHECK(real_path(Operation::kIndex, 8, 8, kShared) == "arrive-and-publish");
    CHECK(real_path(Operation::kIndex, 8, 4096, kShared) == "copy-in-out");
    CHECK(real_path(Operation::kIndex, 8, 65536, kShared) == "pairwise");
    CHECK(real_path(Operation::kIndex, 8, 65536, Transport::kDirect) == "single-copy");
    CHECK(real_path(Operation::kConcat, 4, 65536, Transport::kDirect) == "single-copy");
    CHECK(real_path(Operation::kIndex, 8, 8, Transport::kDirect) == "arrive-and-publish");
}

TEST_CASE("which paths work in place") {
    Shape shape;
    shape.operation = Operation::kIndex;
    for (const Path& path : paths()) {
        CAPTURE(path.name);
        const bool in_memory = path.transport == Transport::kShared;
        shape.n = 2;
        CHECK(path.in_place(shape) == in_memory);
        shape.n = 3;
        CHECK(path.in_place(shape) == (in_memory && path.kind != CollectivePath::kPairwise));
    }
}
