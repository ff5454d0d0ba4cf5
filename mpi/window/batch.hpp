// Batch: short puts and accumulates on one member that wait for the next synchronisation, so that a
// mailbox or a system call carries out many of them at once. Their data are in the batch, so the
// origin's buffers are free. Pure: no function of this file knows windows.
//
// The records are in the order of the calls. Each is a Mail and its data, and begins at a multiple
// of 8 bytes.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "mpi/window/mailbox.hpp"

namespace poe::mpi {

// A longer operation is carried out at once.
inline constexpr Bytes kMostBatchedBytes = 512;

class Batch {
  public:
    bool empty() const noexcept { return records_.empty(); }
    // The records, for the mailbox.
    std::span<const std::byte> bytes() const noexcept { return records_; }
    bool has_room(Bytes data) const noexcept {
        return records_.size() + record_bytes(data) <= kMailPieceBytes;
    }
    // Adds an operation; has_room() is true of its data.
    void add(const Mail& mail, const std::byte* data) {
        const std::size_t at = records_.size();
        records_.resize(at + record_bytes(mail.bytes));
        std::memcpy(records_.data() + at, &mail, sizeof mail);
        std::memcpy(records_.data() + at + sizeof mail, data, mail.bytes);
        ++count_;
    }
    std::size_t count() const noexcept { return count_; }
    // Keeps its memory.
    void clear() noexcept {
        records_.clear();
        count_ = 0;
    }

    // Calls visit(mail, data) for each record.
    template <typename Visit>
    static void for_each(std::span<const std::byte> records, Visit&& visit) {
        for (std::size_t at = 0; at + sizeof(Mail) <= records.size();) {
            Mail mail;
            std::memcpy(&mail, records.data() + at, sizeof mail);
            visit(mail, records.data() + at + sizeof mail);
            at += record_bytes(mail.bytes);
        }
    }

  private:
    static constexpr std::size_t record_bytes(Bytes data) noexcept {
        return sizeof(Mail) + (data + 7) / 8 * 8;
    }

    std::vector<std::byte> records_;
    std::size_t count_ = 0;
};

}  // namespace poe::mpi
