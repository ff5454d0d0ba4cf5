// Every algorithm of the catalogue: right by the verifier, and its counts by the formula, for all
// sizes of groups up to 300.
#include "collectives/selection/catalogue.hpp"

#include <fstream>
#include <iterator>
#include <limits>
#include <malloc.h>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include "collectives/mpsim/verifier.hpp"
#include "collectives/schedule/barrier.hpp"

using namespace poe;
using namespace poe::collectives;

namespace {

constexpr std::uint32_t kMost = 300;

// Every check takes and frees the same megabytes; to give them back to the system each time, and
// have them again, took a third of the time.
[[maybe_unused]] const bool keeps_freed_memory =
    mallopt(M_TRIM_THRESHOLD, 1 << 30) != 0 && mallopt(M_MMAP_THRESHOLD, 1 << 30) != 0;

// Shapes in which the parts of a vector are equal (the formulas' case) and in which they are not.
std::vector<Shape> shapes_of(Operation operation, std::uint32_t n) {
    std::vector<Shape> shapes;
    std::minstd_rand random(n);
    for (const bool commutative : {false, true}) {
        Shape shape;
        shape.operation = operation;
        shape.n = n;
        shape.bytes = n % 2 == 0 ? 1 : 2;
        switch (operation) {
            case Operation::kBcast:
                shape.bytes = n;
                break;
            case Operation::kReduce:
            case Operation::kCombine:
                shape.commutative = commutative;
                shape.exact = commutative;
                shape.element = 1;
                // One byte for each part that the vector is cut into: many bytes for many ranks.
                shape.bytes = commutative ? n : std::uint64_t{1} << log2_down(n);
                if (n > 64 && n % 29 != 0) shape.bytes = 3;
                break;
            case Operation::kShift:
                shape.circular = commutative;
                shape.step = static_cast<int>(random() % (2 * n + 1)) - static_cast<int>(n);
                break;
            default:
                break;
        }
        if (operation == Operation::kBcast || operation == Operation::kReduce ||
            operation == Operation::kScatter || operation == Operation::kGather) {
            shape.root = static_cast<Rank>(random() % n);
            shapes.push_back(shape);
            for (const std::uint32_t root : {0u, n - 1}) {
                if (n > 40) continue;
                shape.root = static_cast<Rank>(root);
                shapes.push_back(shape);
            }
        } else {
            shapes.push_back(shape);
        }
        const bool two_kinds = operation == Operation::kReduce ||
                               operation == Operation::kCombine || operation == Operation::kShift;
        if (!two_kinds) break;
    }
    return shapes;
}

std::vector<double> parameters(const Algorithm& algorithm, const Shape& shape) {
    const std::string name = algorithm.name;
    if (name == "alpha") return {0.5, 0.6, 0.8};
    if (name == "lambda" || name == "census" ||
        (name == "greedy" && algorithm.operation == Operation::kBcast))
        return {1, 1.293, 2, 2.6, 7};
    if (name == "edst" || name == "chain" || name == "fibonacci" ||
        (name == "circulant" && algorithm.parameter != nullptr))
        return {1, 5, static_cast<double>(shape.bytes)};
    if (name == "hybrid") return {0, 1, 2, 3, 9};
    if (name == "pairwise") return {0, 1, 4};
    if (name == "pieces") return {1, 5, 32768};
    if (name.starts_with("phased") || name == "all-to-all" ||
        (name == "greedy" && algorithm.operation == Operation::kIndex))
        return {0, 1, 5};
    if (name == "a2" || name == "a3" || name == "a4") return {0, 1, 2};
    if (name == "multiport") return {1, 2, 3, 5, double(shape.n)};
    if (name == "radix" || name == "combined")
        return {2, 3, std::max(2.0, std::sqrt(shape.n)), std::max(2.0, shape.n / 2.0),
                std::max(2.0, double(shape.n))};
    return {0};
}

// What a generator gives for each rank, made once: to count and to verify it makes all schedules.
class Kept {
  public:
    Kept(std::uint32_t n, const Generator& generate) : all_(n) {
        for (std::uint32_t r = 0; r < n; ++r) generate(static_cast<Rank>(r), all_[r]);
    }
    Generator copied() {
        return [this](Rank rank, Schedule& into) { into = all_[static_cast<std::size_t>(rank)]; };
    }
    // Once.
    Generator given_away() {
        return [this](Rank rank, Schedule& into) {
            std::swap(into, all_[static_cast<std::size_t>(rank)]);
        };
    }

  private:
    std::vector<Schedule> all_;
};

// Where the vector is cut into as many parts as there are ranks, or as the largest power of two of
// them, the formulas hold for equal parts.
bool has_exact_formula(const Algorithm& algorithm, const Shape& shape, double parameter) {
    if (algorithm.counts == nullptr) return false;
    const std::string name = algorithm.name;
    const bool ring = name == "ring" && shape.bytes % shape.n != 0;
    const bool halving =
        name == "halving" && shape.bytes % (std::uint64_t{1} << log2_down(shape.n)) != 0;
    const bool segments = algorithm.parameter != nullptr &&
                          std::string(algorithm.parameter) == "segments" && parameter == 5 &&
                          shape.bytes % 5 != 0;
    return !(ring && shape.operation == Operation::kCombine) && !halving && !segments;
}

// Algorithms that have been verified; `check` skips what does not fit.
using Verified = std::set<std::string>;

void check(Operation operation, std::uint32_t n, bool verify_too, Verified& verified) {
    for (Shape shape : shapes_of(operation, n)) {
        const bool exact = shape.exact;
        for (const Algorithm& algorithm : catalogue()) {
            if (algorithm.operation != operation) continue;
            for (const double parameter : parameters(algorithm, shape)) {
                // Only those that say so may add up in another order at each rank.
                shape.exact = false;
                shape.exact = exact && !algorithm.fits(shape, parameter);
                if (!algorithm.fits(shape, parameter)) continue;
                const Choice choice{&algorithm, parameter};
                CAPTURE(name_of(operation), choice.text(), n, shape.root, shape.bytes, shape.step,
                        shape.commutative);
                Kept kept(n, choice.make(shape));
                if (has_exact_formula(algorithm, shape, parameter)) {
                    const Counts counted = count(n, kept.copied());
                    const Counts formula = algorithm.counts(shape, parameter);
                    if (counted != formula) {
                        CAPTURE(counted.c1, counted.c2, counted.c3);
                        CAPTURE(formula.c1, formula.c2, formula.c3);
                        FAIL("the counts are not those of the formula");
                    }
                }
                if (!verify_too) continue;
                const std::string wrong = verify(shape, kept.given_away());
                if (!wrong.empty()) FAIL(wrong);
                verified.insert(algorithm.name);
            }
        }
    }
    SUCCEED();
}

// All n for what is cheap; for what has n^2 blocks a sample of the larger ones.
bool dear(Operation operation) {
    return operation == Operation::kIndex || operation == Operation::kConcat;
}

}  // namespace

TEST_CASE("vectors and blocks of no bytes, of one, and of more bytes than a segment") {
    for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{13}}) {
        for (std::uint32_t n = 1; n <= 20; ++n) {
            for (const Algorithm& algorithm : catalogue()) {
                Shape shape;
                shape.operation = algorithm.operation;
                shape.n = n;
                shape.root = static_cast<Rank>(n / 2);
                shape.bytes = bytes;
                shape.element = 1;
                shape.commutative = true;
                shape.exact = true;
                shape.step = 1;
                for (const double parameter : parameters(algorithm, shape)) {
                    if (!algorithm.fits(shape, parameter)) continue;
                    CAPTURE(name_of(shape.operation), algorithm.name, parameter, n, bytes);
                    CHECK(verify(shape, algorithm.make(shape, parameter)) == "");
                    const Generator barrier = with_barrier(shape, algorithm.make(shape, parameter));
                    CHECK(verify(shape, barrier, true) == "");
                }
            }
        }
    }
}

TEST_CASE("every algorithm is right and costs what its formula says") {
    for (std::size_t i = 0; i < kOperations; ++i) {
        const auto operation = static_cast<Operation>(i);
        DYNAMIC_SECTION(name_of(operation)) {
            const std::uint32_t most = operation == Operation::kIndex ? 40 : kMost;
            Verified verified;
            for (std::uint32_t n = 1; n <= most; ++n)
                check(operation, n, !dear(operation) || n <= 64 || n % 37 == 0, verified);
            // None is left out because it is thought never to fit. Two levels fit several nodes
            // only, and have a test of their own.
            for (const Algorithm& algorithm : catalogue()) {
                const std::string name = algorithm.name;
                if (algorithm.operation != operation || name == "two-level") continue;
                CAPTURE(name);
                CHECK(verified.contains(name));
            }
        }
    }
}

// The formulas of the CCL paper, IV.B, in its own words: as the generator and the catalogue's
// counts come from the same functions, they would be wrong together.
TEST_CASE("a k-hybrid combine of a power of two costs what the paper says") {
    const Algorithm& hybrid = *find_algorithm(Operation::kCombine, "hybrid");
    for (std::uint32_t log = 0; log <= 8; ++log) {
        for (std::uint32_t k = 0; k <= log; ++k) {
            Shape shape;
            shape.operation = Operation::kCombine;
            shape.n = 1u << log;
            shape.bytes = 3;
            const std::uint64_t groups = shape.n >> k;
            const std::uint64_t messages = groups * (log + (2u << k) - k - 2);
            const Counts paper{log + k, (log + k) * shape.bytes, messages * shape.bytes};
            CAPTURE(shape.n, k);
            CHECK(count(shape.n, hybrid.make(shape, k)) == paper);
            CHECK(hybrid.counts(shape, k) == paper);
        }
    }
}

// Likewise trees by halves, in closed form: no walk of a tree.
TEST_CASE("trees by halves cost what the papers say") {
    for (std::uint32_t n = 1; n <= kMost; ++n) {
        const auto log = static_cast<std::uint64_t>(log2_up(n));
        Shape shape;
        shape.n = n;
        shape.bytes = 7;
        shape.element = 1;
        for (const Operation operation : {Operation::kBcast, Operation::kReduce}) {
            shape.operation = operation;
            CAPTURE(name_of(operation), n);
            const Algorithm& tree = *find_algorithm(operation, "binomial");
            CHECK(count(n, tree.make(shape, 0)) == Counts{log, log * 7, (n - 1) * Bytes{7}});
        }
        shape.bytes = 0;
        shape.operation = Operation::kSync;
        CAPTURE(n);
        CHECK(count(n, find_algorithm(Operation::kSync, "tree")->make(shape, 0)).c1 == 2 * log);
        if (!is_power_of_two(n)) continue;
        // In each round half of the rest of the blocks goes, from twice as many ranks.
        shape.bytes = 7;
        for (const Operation operation : {Operation::kScatter, Operation::kGather}) {
            shape.operation = operation;
            CAPTURE(name_of(operation), n);
            const Algorithm& tree = *find_algorithm(operation, "binomial");
            CHECK(count(n, tree.make(shape, 0)) ==
                  Counts{log, (n - 1) * Bytes{7}, n * log / 2 * Bytes{7}});
        }
    }
}

TEST_CASE("nothing fits with a number out of range, and with the usual one everything does") {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    for (const Algorithm& algorithm : catalogue()) {
        if (algorithm.parameter == nullptr) continue;
        Shape shape;
        shape.operation = algorithm.operation;
        shape.n = 16;
        shape.element = 1;
        shape.commutative = true;
        shape.exact = true;
        CAPTURE(name_of(shape.operation), algorithm.name);
        for (const Bytes bytes : {Bytes{0}, Bytes{1000}, Bytes{1} << 40}) {
            shape.bytes = bytes;
            CHECK(algorithm.fits(shape, algorithm.fallback(shape)));
        }
        const NumberRange& numbers = algorithm.numbers;
        CHECK(algorithm.fits(shape, numbers.least));
        CHECK(algorithm.fits(shape, numbers.most));
        for (const double wrong : {kNan, kInfinite, -kInfinite, 4294967296.0, 4294967298.0, 1e20,
                                   numbers.least - 1, numbers.most + 1})
            CHECK_FALSE(algorithm.fits(shape, wrong));
        if (numbers.whole) CHECK_FALSE(algorithm.fits(shape, numbers.least + 0.5));
    }
}

TEST_CASE("the manual has every algorithm, with its operations and numbers, and no other") {
    std::ifstream file(POE_SOURCE "/man/mptune.1");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const std::size_t start = page.find("\n.SH ALGORITHMS\n");
    REQUIRE(start != std::string::npos);
    const std::string section = page.substr(start, page.find("\n.SH ", start + 1) - start);
    // Headings as in: .BR chain:\fInumber\fP " (bcast, reduce)"
    const std::string tag = "\n.BR ";
    const std::string number = ":\\fInumber\\fP";
    std::map<std::pair<std::string, std::string>, std::string> told;  // by operation and name
    for (std::size_t at = section.find(tag); at != std::string::npos;
         at = section.find(tag, at + 1)) {
        const std::size_t line = at + tag.size();
        const std::string heading = section.substr(line, section.find('\n', line) - line);
        const std::size_t open = heading.find(" \" (");
        if (open == std::string::npos || !heading.ends_with(")\"")) continue;
        std::string name = heading.substr(0, open);
        const bool numbered = name.ends_with(number);
        if (numbered) name.resize(name.size() - number.size());
        const std::string rest = section.substr(line, section.find("\n.TP\n", line) - line);
        std::istringstream operations(heading.substr(open + 4, heading.size() - open - 6));
        for (std::string each; std::getline(operations >> std::ws, each, ',');) {
            CAPTURE(each, name);
            CHECK(told.emplace(std::pair(each, name), (numbered ? ":" : "") + rest).second);
        }
    }
    for (const Algorithm& algorithm : catalogue()) {
        CAPTURE(name_of(algorithm.operation), algorithm.name);
        const auto found = told.find({name_of(algorithm.operation), algorithm.name});
        REQUIRE(found != told.end());
        const bool numbered = found->second.starts_with(":");
        CHECK(numbered == (algorithm.parameter != nullptr));
        if (!numbered) continue;
        // "a whole number from 1 to 1000"
        const std::string range = algorithm.numbers.text();
        const std::string limits = range.substr(range.find("from ") + 5);
        CHECK_THAT(found->second, Catch::Contains(limits));
    }
    CHECK(told.size() == catalogue().size());
}

TEST_CASE("blocks of unequal lengths") {
    std::minstd_rand random(5);
    for (std::uint32_t n = 1; n <= 40; ++n) {
        for (const Algorithm& algorithm : catalogue()) {
            const bool blocks = algorithm.operation == Operation::kScatter ||
                                algorithm.operation == Operation::kGather ||
                                algorithm.operation == Operation::kConcat;
            if (!blocks) continue;
            Shape shape;
            shape.operation = algorithm.operation;
            shape.n = n;
            shape.root = static_cast<Rank>(random() % n);
            shape.offsets = {0};
            for (std::uint32_t r = 0; r < n; ++r)
                shape.offsets.push_back(shape.offsets.back() + random() % 4);
            const double number = algorithm.fallback(shape);
            if (!algorithm.fits(shape, number)) continue;
            CAPTURE(name_of(shape.operation), algorithm.name, n, shape.root);
            CHECK(verify(shape, algorithm.make(shape, number)) == "");
            CHECK(verify(shape, with_barrier(shape, algorithm.make(shape, number)), true) == "");
        }
    }
}

TEST_CASE("an index by any radix, and in one step for each other rank") {
    // All ranks do the same, so one of them is enough to count.
    for (std::uint32_t n = 2; n <= kMost; ++n) {
        Shape shape;
        shape.operation = Operation::kIndex;
        shape.n = n;
        shape.bytes = 1;
        const auto check_one = [&](const Algorithm& algorithm, double parameter) {
            Schedule schedule;
            algorithm.make(shape, parameter)(static_cast<Rank>(n / 3), schedule);
            Counts counted;
            for (const Step& step : schedule.steps()) {
                if (step.kind == StepKind::kSend) counted = counted + Counts{1, step.length, 0};
            }
            counted.c3 = n * counted.c2;
            CAPTURE(algorithm.name, n, parameter);
            REQUIRE(counted == algorithm.counts(shape, parameter));
        };
        const Algorithm& radix = *find_algorithm(Operation::kIndex, "radix");
        for (std::uint32_t r = 2; r <= n; ++r) {
            check_one(radix, r);
            const bool sample = n > 250 ? n == kMost && r == 17 : n % 59 == 0 && r % 13 == 2;
            if (n > 24 && !sample) continue;
            CAPTURE(n, r);
            REQUIRE(verify(shape, radix.make(shape, r)) == "");
        }
        check_one(*find_algorithm(Operation::kIndex, "pairwise"), 0);
    }
}
