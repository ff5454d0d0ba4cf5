// Views of files, file pointers and data representations (MPI 5.0, sections 14.3, 14.4.3, 14.4.4
// and 14.5).
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <string>

#include "mpi/api/bodies.hpp"
#include "mpi/api/checked_call.hpp"
#include "mpi/api/file_call.hpp"
#include "mpi/api/shown.hpp"
#include "mpi/datatype/queries.hpp"
#include "mpi/file/opening.hpp"
#include "mpi/file/shared_pointer.hpp"
#include "mpi/file/threads.hpp"

namespace poe::mpi {
namespace {

// What is wrong with the arguments of MPI_File_set_view; otherwise `view` is set.
Fault resolve_view(Call& call, File& file, MPI_Offset disp, MPI_Datatype etype,
                   MPI_Datatype filetype, const char* datarep, View& view) {
    Datatype* const element = find_datatype(etype);
    Datatype* const pattern = find_datatype(filetype);
    if (element == nullptr) return {MPI_ERR_TYPE, "etype", "it is no datatype", ""};
    if (pattern == nullptr) return {MPI_ERR_TYPE, "filetype", "it is no datatype", ""};
    for (const Datatype* each : {element, pattern})
        if (!each->committed())
            return {MPI_ERR_TYPE, each == element ? "etype" : "filetype",
                    "the datatype is not committed", "call MPI_Type_commit"};
    const Representation* const how = find_representation(datarep);
    if (how == nullptr)
        return {MPI_ERR_UNSUPPORTED_DATAREP, "datarep",
                "there is no data representation '" + std::string(datarep) + "'",
                "use native, internal or external32, or register it with MPI_Register_datarep"};
    if (file.sequential() != (disp == MPI_DISPLACEMENT_CURRENT))
        return {MPI_ERR_ARG, "disp",
                file.sequential()
                    ? "it must be MPI_DISPLACEMENT_CURRENT, because the file was opened with "
                      "MPI_MODE_SEQUENTIAL"
                    : "MPI_DISPLACEMENT_CURRENT is allowed with MPI_MODE_SEQUENTIAL only",
                ""};
    if (disp == MPI_DISPLACEMENT_CURRENT) {
        std::int64_t current = 0;
        if (Fault fault = add_to_shared_pointer(call, file, 0, current)) return fault;
        disp = file.view->stream.place(stream_position(*file.view, current));
    }
    if (disp < 0) return {MPI_ERR_ARG, "disp", std::to_string(disp) + " is negative", ""};
    return make_view(disp, *element, *pattern, *how, file.writable(), view);
}

// The handle of a datatype for the program, which frees it unless it is predefined.
MPI_Datatype given_type(const TypeReference& type) {
    type->hold();
    return handle_of(*type);
}

// The new value of a file pointer, in etypes; a fault if `whence` makes no sense or it is negative.
// Gives the turn up while the system is asked for the size of the file.
Fault sought(Call& call, const File& file, MPI_Offset offset, int whence, std::int64_t current,
             std::int64_t& result) {
    std::int64_t from = 0;
    if (whence == MPI_SEEK_CUR) {
        from = current;
    } else if (whence == MPI_SEEK_END) {
        std::int64_t size = 0;
        if (Fault fault = size_of_file(call.runtime(), file, size)) return fault;
        from = etypes_before(*file.view, size);
    } else if (whence != MPI_SEEK_SET) {
        return {MPI_ERR_ARG, "whence", std::to_string(whence) + " is no way to seek",
                "give MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END"};
    }
    std::int64_t bytes = 0;
    if (__builtin_add_overflow(from, offset, &result) || result < 0)
        return {MPI_ERR_ARG, "offset",
                std::to_string(offset) + " leads to a position before the beginning of the file",
                ""};
    if (__builtin_mul_overflow(result, file.view->etype_bytes, &bytes) ||
        static_cast<Bytes>(bytes) > file.view->stream.layout.size())
        return {MPI_ERR_ARG, "offset", std::to_string(offset) + " is too large", ""};
    return {};
}

}  // namespace

int file_set_view(Call& call, MPI_File fh, MPI_Offset disp, MPI_Datatype etype,
                  MPI_Datatype filetype, const char* datarep, MPI_Info info) {
    File& file = *find_file(fh);
    if (refuse_split(call, file)) return call.code();
    await_file(call.runtime(), file);
    const Info* hints = nullptr;
    if (info != MPI_INFO_NULL) {
        hints = environment().find_readable_info(info);
        if (hints == nullptr) return call.fail(MPI_ERR_INFO, "info", "it is no info");
    }
    const VisibleCollective visible(call, *file.comm);
    if (const int code = agree(call, *file.comm)) return code;
    View view;
    const Fault wrong = call.outside(
        [&] { return resolve_view(call, file, disp, etype, filetype, datarep, view); });
    if (Fault fault = set_view(call.runtime(), file, std::move(view), wrong))
        return call.fail(fault);
    const std::lock_guard guard(environment().lock);
    set_file_hints(file, hints);
    return MPI_SUCCESS;
}

int file_get_view(Call&, MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                  char* datarep) {
    const View& view = *find_file(fh)->view;
    *disp = view.displacement;
    *etype = given_type(view.etype);
    *filetype = given_type(view.filetype);
    std::memcpy(datarep, view.representation->name.c_str(), view.representation->name.size() + 1);
    return MPI_SUCCESS;
}

int file_seek(Call& call, MPI_File fh, MPI_Offset offset, int whence) {
    File& file = *find_file(fh);
    if (refuse_sequential(call, file)) return call.code();
    await_file(call.runtime(), file);
    const std::int64_t current = static_cast<std::int64_t>(file.position) / file.view->etype_bytes;
    std::int64_t result = 0;
    if (Fault fault = sought(call, file, offset, whence, current, result)) return call.fail(fault);
    // Another thread may have begun an access while the system was asked for the size.
    await_file(call.runtime(), file);
    file.position = stream_position(*file.view, result);
    return MPI_SUCCESS;
}

int file_get_position(Call& call, MPI_File fh, MPI_Offset* offset) {
    const File& file = *find_file(fh);
    if (refuse_sequential(call, file)) return call.code();
    await_file(call.runtime(), file);
    *offset = static_cast<std::int64_t>(file.position) / file.view->etype_bytes;
    return MPI_SUCCESS;
}

int file_get_byte_offset(Call& call, MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
    const File& file = *find_file(fh);
    if (refuse_sequential(call, file)) return call.code();
    std::int64_t etypes = 0;
    if (Fault fault = sought(call, file, offset, MPI_SEEK_SET, 0, etypes)) return call.fail(fault);
    *disp = file.view->stream.place(stream_position(*file.view, etypes));
    return MPI_SUCCESS;
}

int file_seek_shared(Call& call, MPI_File fh, MPI_Offset offset, int whence) {
    File& file = *find_file(fh);
    if (refuse_sequential(call, file) || refuse_split(call, file)) return call.code();
    const VisibleCollective visible(call, *file.comm);
    if (const int code = agree(call, *file.comm)) return code;
    // The call is collective, so after this agreement nobody uses the pointer until the next one.
    Fault fault = agree_on_value(call.runtime(), file, offset, "offset", {});
    if (!fault) fault = agree_on_value(call.runtime(), file, whence, "whence", {});
    if (fault) return call.fail(fault);
    if (file.rank() == 0) {
        std::int64_t current = 0;
        std::int64_t result = 0;
        fault = add_to_shared_pointer(call, file, 0, current);
        if (!fault) fault = sought(call, file, offset, whence, current, result);
        if (!fault && file.shared != nullptr) fault = file.shared->store(call.runtime(), result);
        if (!fault) file.own_pointer = result;
    }
    return call.finish(agree_on_fault(call.runtime(), *file.comm, file.name, fault));
}

int file_get_position_shared(Call& call, MPI_File fh, MPI_Offset* offset) {
    File& file = *find_file(fh);
    if (refuse_sequential(call, file)) return call.code();
    std::int64_t current = 0;
    if (Fault fault = add_to_shared_pointer(call, file, 0, current)) return call.fail(fault);
    *offset = current;
    return MPI_SUCCESS;
}

int file_get_type_extent(Call& call, MPI_File fh, MPI_Datatype datatype, CountOut extent) {
    const File& file = *find_file(fh);
    Datatype* const type = find_datatype(datatype);
    if (type == nullptr) return call.fail(MPI_ERR_TYPE, "datatype", "it is no datatype");
    TypeReference stored;
    const Fault fault =
        call.outside([&] { return file_type(*file.view->representation, *type, stored); });
    if (fault) return call.fail(fault);
    extent.set(stored->extent());
    return MPI_SUCCESS;
}

int register_datarep(
    Call& call, const char* datarep,
    Callback<MPI_Datarep_conversion_function, MPI_Datarep_conversion_function_c> read_conversion_fn,
    Callback<MPI_Datarep_conversion_function, MPI_Datarep_conversion_function_c>
        write_conversion_fn,
    MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
    Representation added;
    added.name = datarep;
    added.read = read_conversion_fn.narrow;
    added.read_large = read_conversion_fn.wide;
    added.write = write_conversion_fn.narrow;
    added.write_large = write_conversion_fn.wide;
    added.extent = dtype_file_extent_fn;
    added.extra_state = extra_state;
    return call.finish(register_representation(std::move(added)));
}

}  // namespace poe::mpi
