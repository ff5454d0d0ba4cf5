// Copies between the memories of processes; here both are this process.
#include "base/process_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

using namespace poe;

namespace {

// Two pages of which only the first may be accessed.
class HalfMapped {
  public:
    HalfMapped()
        : start_(static_cast<std::byte*>(::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        REQUIRE(::mprotect(start_ + kPage, kPage, PROT_NONE) == 0);
    }
    ~HalfMapped() { ::munmap(start_, 2 * kPage); }
    HalfMapped(const HalfMapped&) = delete;
    HalfMapped& operator=(const HalfMapped&) = delete;
    std::byte* start() const { return start_; }

  private:
    std::byte* start_;
};

std::uint64_t address_of(const std::byte* place) {
    return reinterpret_cast<std::uintptr_t>(place);
}

}  // namespace

TEST_CASE("bytes are copied completely at all places in a page, in both directions", "[copy]") {
    const auto direction = GENERATE(CopyDirection::kRead, CopyDirection::kWrite);
    std::vector<std::byte> given(40 * kPage);
    for (Bytes i = 0; i < given.size(); ++i) given[i] = static_cast<std::byte>(i * 7 + i / 251);
    for (const Bytes length : {Bytes{0}, Bytes{1}, Bytes{8191}, Bytes{8192}, 8 * kPage,
                               8 * kPage + 1, 20 * kPage + 77}) {
        for (const Bytes ahead : {0, 1, 16, 31, 32, 4080}) {
            std::vector<std::byte> wanted(30 * kPage, std::byte{0xee});
            std::vector<std::byte> found = wanted;
            const Bytes at = (address_of(given.data()) - address_of(found.data())) % kPage;
            const Bytes start = at + ahead;
            std::copy_n(given.begin(), length, wanted.begin() + static_cast<std::ptrdiff_t>(start));
            const bool reads = direction == CopyDirection::kRead;
            std::byte* const own = reads ? found.data() + start : given.data();
            std::byte* const other = reads ? given.data() : found.data() + start;
            INFO(length << " bytes, " << ahead << " ahead");
            REQUIRE(copy_process_memory(direction, ::getpid(), own, address_of(other), length));
            REQUIRE(found == wanted);
        }
    }
}

TEST_CASE("memory that is not there is reported, on either side", "[copy]") {
    const auto direction = GENERATE(CopyDirection::kRead, CopyDirection::kWrite);
    const Bytes ahead = GENERATE(Bytes{0}, Bytes{16}, kPage - 16);
    const HalfMapped half;
    std::vector<std::byte> whole(4 * kPage);
    std::byte* const place =
        whole.data() + (address_of(half.start()) - address_of(whole.data())) % kPage + ahead;
    errno = 0;
    CHECK_FALSE(
        copy_process_memory(direction, ::getpid(), place, address_of(half.start()), 2 * kPage));
    CHECK(errno == EFAULT);
    errno = 0;
    CHECK_FALSE(
        copy_process_memory(direction, ::getpid(), half.start(), address_of(place), 2 * kPage));
    CHECK(errno == EFAULT);
}

TEST_CASE("a process that has ended is reported", "[copy]") {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(0);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    std::byte own{};
    errno = 0;
    CHECK_FALSE(copy_process_memory(CopyDirection::kRead, child, &own, address_of(&own), 1));
    CHECK(errno == ESRCH);
}
