// Representations of data in files; see representation.hpp.
#include "mpi/file/representation.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <list>
#include <mutex>
#include <utility>

#include "mpi/datatype/constructors.hpp"
#include "mpi/datatype/external32.hpp"
#include "mpi/datatype/packing.hpp"
#include "mpi/datatype/queries.hpp"

namespace poe::mpi {
namespace {

struct Representations {
    std::mutex lock;
    std::list<Representation> all;
};

Representations& representations() {
    static auto* const known = [] {
        auto* made = new Representations;
        made->all.push_back({.name = "native", .native = true});
        made->all.push_back({.name = "internal", .native = true});
        made->all.push_back({.name = "external32", .external32 = true});
        return made;
    }();
    return *known;
}

const Representation* find_locked(const char* name) {
    for (const Representation& each : representations().all)
        if (each.name == name) return &each;
    return nullptr;
}

Fault fault_of_report(const ErrorReport& report) {
    return {report.error_class, "datatype", report.text, ""};
}

Fault fault_of_conversion(const Representation& how, int code, const char* which) {
    if (code == MPI_SUCCESS) return {};
    return {MPI_ERR_CONVERSION, "",
            "the " + std::string(which) + " function of the data representation '" + how.name +
                "' has returned the error " + std::to_string(code),
            ""};
}

// The numbers of a constructor, in the order in which the program gave them. Those that count
// elements are among the large counts if the program called the form with large counts.
class ContentsReader {
  public:
    explicit ContentsReader(const Contents& contents) : contents_(contents) {}

    std::int64_t integer() { return contents_.integers[integers_++]; }
    std::int64_t count() { return contents_.large ? large() : integer(); }
    std::int64_t address() { return contents_.large ? large() : contents_.addresses[addresses_++]; }
    std::vector<std::int64_t> counts(std::int64_t n) {
        return several(n, [&] { return count(); });
    }
    std::vector<std::int64_t> addresses(std::int64_t n) {
        return several(n, [&] { return address(); });
    }
    std::vector<int> integers(std::int64_t n) {
        std::vector<int> result;
        for (std::int64_t i = 0; i < n; ++i) result.push_back(static_cast<int>(integer()));
        return result;
    }

  private:
    std::int64_t large() { return contents_.large_counts[larges_++]; }
    template <typename One>
    static std::vector<std::int64_t> several(std::int64_t n, One&& one) {
        std::vector<std::int64_t> result;
        for (std::int64_t i = 0; i < n; ++i) result.push_back(one());
        return result;
    }

    const Contents& contents_;
    std::size_t integers_ = 0;
    std::size_t addresses_ = 0;
    std::size_t larges_ = 0;
};

class FileTypeMaker {
  public:
    explicit FileTypeMaker(const Representation& how) : how_(how) {}

    // The same constructor with the datatypes of the file. The result is `type` itself if nothing
    // differs.
    TypeReference make(Datatype& type) {
        if (fault_) return TypeReference(type);
        if (type.predefined() || type.contents().types.empty()) return basic(type);
        const Contents& contents = type.contents();
        std::vector<TypeReference> parts;
        bool same = true;
        for (const TypeReference& part : contents.types) {
            parts.push_back(make(*part));
            same = same && parts.back().get() == part.get();
        }
        if (same || fault_) return TypeReference(type);
        Datatype* made = nullptr;
        const ErrorReport report = construct(contents, parts, made);
        if (report) {
            fault_ = fault_of_report(report);
            return TypeReference(type);
        }
        return take(*made);
    }
    const Fault& fault() const noexcept { return fault_; }

  private:
    static TypeReference take(Datatype& made) {
        TypeReference reference(made);
        made.release();
        return reference;
    }

    // A predefined datatype, or one of MPI_Type_create_f90_real and its relatives.
    TypeReference basic(Datatype& type) {
        std::int64_t bytes = type.size();
        if (how_.external32) {
            bytes = external32_size(type, 1);
        } else if (how_.extent != nullptr) {
            MPI_Aint extent = 0;
            fault_ = fault_of_conversion(
                how_, how_.extent(handle_of(type), &extent, how_.extra_state), "extent");
            bytes = extent;
        }
        if (fault_ || (bytes == type.size() && bytes == type.extent())) return TypeReference(type);
        Datatype* made = nullptr;
        const ErrorReport report = type_contiguous(
            Form::kLarge, bytes, *find_predefined_datatype(value_of(MPI_BYTE)), made);
        if (report) {
            fault_ = fault_of_report(report);
            return TypeReference(type);
        }
        return take(*made);
    }

    static ErrorReport construct(const Contents& contents, std::vector<TypeReference>& parts,
                                 Datatype*& made) {
        constexpr Form kForm = Form::kLarge;
        ContentsReader in(contents);
        Datatype& first = *parts.front();
        switch (contents.combiner) {
            case Combiner::kDup:
                return type_contiguous(kForm, 1, first, made);
            case Combiner::kContiguous:
                return type_contiguous(kForm, in.count(), first, made);
            case Combiner::kVector: {
                const std::int64_t count = in.count(), length = in.count(), stride = in.count();
                return type_vector(kForm, count, length, stride, first, made);
            }
            case Combiner::kHvector: {
                const std::int64_t count = in.count(), length = in.count(), stride = in.address();
                return type_create_hvector(kForm, count, length, stride, first, made);
            }
            case Combiner::kIndexed: {
                const std::int64_t count = in.count();
                const auto lengths = in.counts(count), places = in.counts(count);
                return type_indexed(kForm, count, lengths.data(), places.data(), first, made);
            }
            case Combiner::kHindexed: {
                const std::int64_t count = in.count();
                const auto lengths = in.counts(count), places = in.addresses(count);
                return type_create_hindexed(kForm, count, lengths.data(), places.data(), first,
                                            made);
            }
            case Combiner::kIndexedBlock: {
                const std::int64_t count = in.count(), length = in.count();
                const auto places = in.counts(count);
                return type_create_indexed_block(kForm, count, length, places.data(), first, made);
            }
            case Combiner::kHindexedBlock: {
                const std::int64_t count = in.count(), length = in.count();
                const auto places = in.addresses(count);
                return type_create_hindexed_block(kForm, count, length, places.data(), first, made);
            }
            case Combiner::kStruct: {
                const std::int64_t count = in.count();
                const auto lengths = in.counts(count), places = in.addresses(count);
                std::vector<Datatype*> types;
                for (const TypeReference& part : parts) types.push_back(part.get());
                return type_create_struct(kForm, count, lengths.data(), places.data(), types.data(),
                                          made);
            }
            case Combiner::kSubarray: {
                const auto dims = static_cast<int>(in.integer());
                const auto sizes = in.counts(dims), parts_of = in.counts(dims),
                           starts = in.counts(dims);
                return type_create_subarray(kForm, dims, sizes.data(), parts_of.data(),
                                            starts.data(), static_cast<int>(in.integer()), first,
                                            made);
            }
            case Combiner::kDarray: {
                const auto size = static_cast<int>(in.integer());
                const auto rank = static_cast<int>(in.integer());
                const auto dims = static_cast<int>(in.integer());
                const auto sizes = in.counts(dims);
                const auto distributions = in.integers(dims), arguments = in.integers(dims),
                           grid = in.integers(dims);
                return type_create_darray(kForm, size, rank, dims, sizes.data(),
                                          distributions.data(), arguments.data(), grid.data(),
                                          static_cast<int>(in.integer()), first, made);
            }
            case Combiner::kResized: {
                const std::int64_t lower = in.address(), extent = in.address();
                return type_create_resized(kForm, first, lower, extent, made);
            }
            default:
                return {MPI_ERR_UNSUPPORTED_DATAREP, "datatype",
                        "it was made by a constructor that this data representation does not know"};
        }
    }

    const Representation& how_;
    Fault fault_;
};

Fault check_program_count(std::int64_t count) {
    if (count <= std::numeric_limits<int>::max()) return {};
    return {MPI_ERR_COUNT, "count",
            std::to_string(count) + " is too large for the conversion function, which takes an int",
            "register functions with the large-count form of MPI_Register_datarep"};
}

}  // namespace

const Representation* find_representation(const char* name) {
    const std::lock_guard guard(representations().lock);
    return find_locked(name);
}

Fault register_representation(Representation added) {
    if (added.name.size() >= MPI_MAX_DATAREP_STRING)
        return {
            MPI_ERR_ARG, "datarep",
            "the name has more than " + std::to_string(MPI_MAX_DATAREP_STRING - 1) + " characters",
            ""};
    const std::lock_guard guard(representations().lock);
    if (find_locked(added.name.c_str()) != nullptr)
        return {MPI_ERR_DUP_DATAREP, "datarep",
                "the data representation '" + added.name + "' exists already", ""};
    representations().all.push_back(std::move(added));
    return {};
}

Fault file_type(const Representation& how, Datatype& type, TypeReference& made) {
    if (how.native) {
        made = TypeReference(type);
        return {};
    }
    FileTypeMaker maker(how);
    made = maker.make(type);
    made->commit();
    return maker.fault();
}

Fault to_file(const Representation& how, const void* memory, std::int64_t count, Datatype& type,
              std::byte* file) {
    if (how.external32) {
        to_external32(memory, count, type, file);
        return {};
    }
    if (how.write_large != nullptr)
        return fault_of_conversion(how,
                                   how.write_large(const_cast<void*>(memory), handle_of(type),
                                                   count, file, 0, how.extra_state),
                                   "write conversion");
    if (how.write != nullptr) {
        if (Fault fault = check_program_count(count)) return fault;
        return fault_of_conversion(how,
                                   how.write(const_cast<void*>(memory), handle_of(type),
                                             static_cast<int>(count), file, 0, how.extra_state),
                                   "write conversion");
    }
    const TypedLayout layout = type.layout(count);
    layout.copy_out(static_cast<const std::byte*>(memory), 0, file, layout.size());
    return {};
}

Fault from_file(const Representation& how, const std::byte* file, void* memory, std::int64_t count,
                Datatype& type) {
    auto* const bytes = const_cast<std::byte*>(file);
    if (how.external32) {
        from_external32(file, memory, count, type);
        return {};
    }
    if (how.read_large != nullptr)
        return fault_of_conversion(
            how, how.read_large(memory, handle_of(type), count, bytes, 0, how.extra_state),
            "read conversion");
    if (how.read != nullptr) {
        if (Fault fault = check_program_count(count)) return fault;
        return fault_of_conversion(
            how,
            how.read(memory, handle_of(type), static_cast<int>(count), bytes, 0, how.extra_state),
            "read conversion");
    }
    const TypedLayout layout = type.layout(count);
    layout.copy_in(static_cast<std::byte*>(memory), 0, file, layout.size());
    return {};
}

}  // namespace poe::mpi
