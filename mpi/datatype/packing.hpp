// MPI_Pack, MPI_Unpack and their relatives (MPI 5.0, sections 5.2 and 5.3). The packed form in the
// native representation is the stream of bytes that a message of this datatype carries.
//
// Counts and positions are in elements and bytes. Buffers belong to the caller and must not
// overlap. The functions check their arguments, return an error without effect if one is wrong, and
// do not block. The communicator has no influence: the library runs on computers of one kind.
#pragma once

#include <cstdint>

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/error_report.hpp"

namespace poe::mpi {

// On success `position` advances by the bytes that were written or read.
ErrorReport pack(const void* inbuf, std::int64_t incount, const Datatype& type, void* outbuf,
                 std::int64_t outsize, std::int64_t& position);
ErrorReport unpack(const void* inbuf, std::int64_t insize, std::int64_t& position, void* outbuf,
                   std::int64_t outcount, const Datatype& type);
ErrorReport pack_size(std::int64_t incount, const Datatype& type, std::int64_t& size);

// `datarep` must be "external32"; another text is an error of the class
// MPI_ERR_UNSUPPORTED_DATAREP.
ErrorReport pack_external(const char* datarep, const void* inbuf, std::int64_t incount,
                          const Datatype& type, void* outbuf, std::int64_t outsize,
                          std::int64_t& position);
ErrorReport unpack_external(const char* datarep, const void* inbuf, std::int64_t insize,
                            std::int64_t& position, void* outbuf, std::int64_t outcount,
                            const Datatype& type);
ErrorReport pack_external_size(const char* datarep, std::int64_t incount, const Datatype& type,
                               std::int64_t& size);

}  // namespace poe::mpi
