#include "mpi/datatype/packing.hpp"

#include <string_view>

#include "mpi/datatype/external32.hpp"

namespace poe::mpi {

namespace {

ErrorReport check_elements(std::int64_t count, std::string_view name) {
    if (count >= 0) return {};
    return {kErrCount, name, joined("the count is ", count, "; it must not be negative")};
}

ErrorReport check_committed(const Datatype& type) {
    if (type.committed()) return {};
    return {kErrType, "datatype", "the datatype is not committed; call MPI_Type_commit first"};
}

ErrorReport check_datarep(const char* datarep) {
    if (datarep != nullptr && std::string_view(datarep) == "external32") return {};
    return {kErrUnsupportedDatarep, "datarep",
            joined("the data representation is \"", datarep != nullptr ? datarep : "",
                   "\"; only \"external32\" is supported")};
}

// The bytes of a packed buffer that the call uses, from `position`.
struct Window {
    std::string_view size_name;  // of the argument that gives the size of the buffer
    std::int64_t size;
    std::int64_t position;
    std::int64_t needed;
};

ErrorReport check_window(const void* buffer, std::string_view buffer_name, const Window& window) {
    if (window.size < 0) {
        return {kErrArg, window.size_name,
                joined("the size of the buffer is ", window.size, "; it must not be negative")};
    }
    if (window.position < 0 || window.position > window.size) {
        return {kErrArg, "position",
                joined("the position is ", window.position, "; the buffer has ", window.size,
                       " bytes")};
    }
    if (window.needed > window.size - window.position) {
        return {kErrTruncate, window.size_name,
                joined(window.needed, " bytes are needed from position ", window.position,
                       ", but the buffer has ", window.size, " bytes")};
    }
    if (buffer == nullptr && window.needed != 0) {
        return {kErrArg, buffer_name, "the packed buffer is a null pointer"};
    }
    return {};
}

ErrorReport native_size(std::int64_t count, const Datatype& type, std::string_view count_name,
                        std::int64_t& size) {
    if (ErrorReport error = check_elements(count, count_name)) return error;
    if (!__builtin_mul_overflow(count, type.size(), &size)) return {};
    return {kErrValueTooLarge, count_name,
            joined(count, " elements of ", type.size(),
                   " bytes are more than a 64-bit number of bytes")};
}

ErrorReport external_bytes(std::int64_t count, const Datatype& type, std::string_view count_name,
                           std::int64_t& size) {
    if (ErrorReport error = check_elements(count, count_name)) return error;
    try {
        size = external32_size(type, count);
        return {};
    } catch (const TypeTooLarge&) {
        return {kErrValueTooLarge, count_name,
                joined(count, " elements are more than a 64-bit number of bytes")};
    }
}

}  // namespace

ErrorReport pack(const void* inbuf, std::int64_t incount, const Datatype& type, void* outbuf,
                 std::int64_t outsize, std::int64_t& position) {
    if (ErrorReport error = check_committed(type)) return error;
    std::int64_t size = 0;
    if (ErrorReport error = native_size(incount, type, "incount", size)) return error;
    if (ErrorReport error = check_window(outbuf, "outbuf", {"outsize", outsize, position, size})) {
        return error;
    }
    type.layout(incount).copy_out(static_cast<const std::byte*>(inbuf), 0,
                                  static_cast<std::byte*>(outbuf) + position,
                                  static_cast<Bytes>(size));
    position += size;
    return {};
}

ErrorReport unpack(const void* inbuf, std::int64_t insize, std::int64_t& position, void* outbuf,
                   std::int64_t outcount, const Datatype& type) {
    if (ErrorReport error = check_committed(type)) return error;
    std::int64_t size = 0;
    if (ErrorReport error = native_size(outcount, type, "outcount", size)) return error;
    if (ErrorReport error = check_window(inbuf, "inbuf", {"insize", insize, position, size})) {
        return error;
    }
    type.layout(outcount).copy_in(static_cast<std::byte*>(outbuf), 0,
                                  static_cast<const std::byte*>(inbuf) + position,
                                  static_cast<Bytes>(size));
    position += size;
    return {};
}

ErrorReport pack_size(std::int64_t incount, const Datatype& type, std::int64_t& size) {
    return native_size(incount, type, "incount", size);
}

ErrorReport pack_external(const char* datarep, const void* inbuf, std::int64_t incount,
                          const Datatype& type, void* outbuf, std::int64_t outsize,
                          std::int64_t& position) {
    if (ErrorReport error = check_datarep(datarep)) return error;
    if (ErrorReport error = check_committed(type)) return error;
    std::int64_t size = 0;
    if (ErrorReport error = external_bytes(incount, type, "incount", size)) return error;
    if (ErrorReport error = check_window(outbuf, "outbuf", {"outsize", outsize, position, size})) {
        return error;
    }
    to_external32(inbuf, incount, type, static_cast<std::byte*>(outbuf) + position);
    position += size;
    return {};
}

ErrorReport unpack_external(const char* datarep, const void* inbuf, std::int64_t insize,
                            std::int64_t& position, void* outbuf, std::int64_t outcount,
                            const Datatype& type) {
    if (ErrorReport error = check_datarep(datarep)) return error;
    if (ErrorReport error = check_committed(type)) return error;
    std::int64_t size = 0;
    if (ErrorReport error = external_bytes(outcount, type, "outcount", size)) return error;
    if (ErrorReport error = check_window(inbuf, "inbuf", {"insize", insize, position, size})) {
        return error;
    }
    from_external32(static_cast<const std::byte*>(inbuf) + position, outbuf, outcount, type);
    position += size;
    return {};
}

ErrorReport pack_external_size(const char* datarep, std::int64_t incount, const Datatype& type,
                               std::int64_t& size) {
    if (ErrorReport error = check_datarep(datarep)) return error;
    return external_bytes(incount, type, "incount", size);
}

}  // namespace poe::mpi
