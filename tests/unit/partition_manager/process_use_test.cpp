// What /proc says of a process: switches and disk.
#include <ctime>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "partition_manager/status/process_sums.hpp"

using namespace poe::pm;

TEST_CASE("a process that sleeps is switched") {
    const ProcessUse before = process_use(::getpid());
    constexpr std::uint64_t kRests = 5;
    for (std::uint64_t i = 0; i < kRests; ++i) {
        const timespec rest{0, 1'000'000};
        ::nanosleep(&rest, nullptr);
    }
    const ProcessUse after = process_use(::getpid());
    CHECK(after.switches >= before.switches + kRests);
    CHECK(after.disk_written >= before.disk_written);
}

TEST_CASE("a process that does not exist has used nothing") {
    const ProcessUse none = process_use(0x7ffffff0);
    CHECK(none.switches == 0);
    CHECK(none.disk_read == 0);
    CHECK(none.disk_written == 0);
}
