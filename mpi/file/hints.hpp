// The hints of files (MPI 5.0, section 14.2.8). Hints of other libraries that name the same thing
// are known by those names, because programs and their job scripts use them.
//
//   key                  values         meaning
//   cb_nodes             number         how many members read and write for all (aggregators)
//   cb_buffer_size       bytes          what an aggregator reads or writes at a time
//   romio_cb_read,       enable,        collective calls exchange their data first
//   romio_cb_write       disable,
//                        automatic
//   collective_buffering true, false    the same for both
//   ind_rd_buffer_size   bytes          what a task reads at a time of data with gaps
//   ind_wr_buffer_size   bytes          what a task writes at a time of data with gaps
//   romio_ds_read        as above       read gaps, too, if a view has short pieces
//   romio_ds_write       as above       read gaps, write them back; automatic: never
#pragma once

#include <cstdint>
#include <mpi.h>

#include "mpi/object/fault.hpp"
#include "mpi/object/info.hpp"

namespace poe::mpi {

enum class Choice : std::uint8_t { kAutomatic, kEnable, kDisable };

struct FileHints {
    std::int64_t aggregators = 0;  // 0: one per node
    std::int64_t collective_buffer = std::int64_t{4} << 20;
    std::int64_t read_buffer = std::int64_t{4} << 20;
    std::int64_t write_buffer = std::int64_t{512} << 10;
    Choice exchange_reads = Choice::kAutomatic;
    Choice exchange_writes = Choice::kAutomatic;
    Choice sieve_reads = Choice::kAutomatic;
    Choice sieve_writes = Choice::kAutomatic;
};

// Adds the known entries of `given` to the list of hints and to their values. A value that makes no
// sense is ignored, as a hint that is not known is. `given` may be null.
void add_file_hints(MPI_Info& list, FileHints& hints, const Info* given);

// Adds the values that are in use to a list for the program, except that of cb_nodes.
void add_used_hints(const FileHints& hints, Info& list);

}  // namespace poe::mpi
