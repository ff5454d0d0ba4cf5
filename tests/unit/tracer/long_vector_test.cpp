// Vectors that are longer than the memory.
#include "tracer/diagnosis/long_vector.hpp"

#include <fstream>
#include <string>
#include <sys/resource.h>

#include <catch2/catch.hpp>

using namespace poe::trace;

namespace {

// Limits the private memory of this process to what it has and 32 MB more.
class LittleMemory {
  public:
    LittleMemory() {
        ::getrlimit(RLIMIT_DATA, &before_);
        std::ifstream status("/proc/self/status");
        std::size_t kilobytes = 0;
        for (std::string word; status >> word;)
            if (word == "VmData:") status >> kilobytes;
        struct rlimit little = before_;
        little.rlim_cur = (kilobytes << 10) + (std::size_t{32} << 20);
        ::setrlimit(RLIMIT_DATA, &little);
    }
    ~LittleMemory() { ::setrlimit(RLIMIT_DATA, &before_); }

  private:
    struct rlimit before_ {};
};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a long vector needs no memory of its own", "[long_vector]") {
    constexpr std::size_t kElements = std::size_t{24} << 20;
    if (room_for_long_blocks() < 4 * kElements * sizeof(std::uint64_t)) {
        WARN("there is no room in /var/tmp");
        return;
    }
    const LittleMemory limit;
    CHECK_THROWS_AS(std::vector<std::uint64_t>(kElements), std::bad_alloc);
    LongVector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < kElements; ++i) all.push_back(i * i);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < kElements; ++i) wrong += all[i] != i * i ? 1 : 0;
    CHECK(wrong == 0);
}
#endif

TEST_CASE("a long vector is copied, moved and emptied as others are", "[long_vector]") {
    constexpr std::size_t kElements = kLongBlock / sizeof(int);
    LongVector<int> all(kElements, 7);
    LongVector<int> copy = all;
    copy.back() = 8;
    CHECK(all.back() == 7);
    all = std::move(copy);
    CHECK(all.back() == 8);
    all.clear();
    all.shrink_to_fit();
    CHECK(all.empty());
    all.assign(3, 1);
    CHECK(all.size() == 3);
}
