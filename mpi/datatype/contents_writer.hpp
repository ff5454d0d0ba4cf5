// ContentsWriter: stores the arguments of a constructor in the order and in the arrays that
// MPI_Type_get_contents returns (MPI 5.0, section 5.1.13). In the `int` form counts are integers
// and displacements in bytes are addresses; in the large form all of them are large counts.
#pragma once

#include <cstdint>
#include <utility>

#include "mpi/datatype/counts.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/error_report.hpp"

namespace poe::mpi {

class ContentsWriter {
  public:
    ContentsWriter(Combiner combiner, Form form) {
        contents_.combiner = combiner;
        contents_.large = form == Form::kLarge;
    }

    // An argument that is an `int` in both forms.
    ContentsWriter& integer(std::int64_t value) {
        contents_.integers.push_back(value);
        return *this;
    }
    ContentsWriter& count(std::int64_t value) {
        (contents_.large ? contents_.large_counts : contents_.integers).push_back(value);
        return *this;
    }
    ContentsWriter& address(std::int64_t value) {
        (contents_.large ? contents_.large_counts : contents_.addresses).push_back(value);
        return *this;
    }
    ContentsWriter& counts(Counts values, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) count(values[i]);
        return *this;
    }
    ContentsWriter& addresses(Counts values, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) address(values[i]);
        return *this;
    }
    ContentsWriter& integers(const int* values, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) integer(values[i]);
        return *this;
    }
    ContentsWriter& type(Datatype& type) {
        contents_.types.emplace_back(type);
        return *this;
    }

    Contents take() { return std::move(contents_); }

  private:
    Contents contents_;
};

// Makes the datatype whose type map `map()` returns. A type that is too large for 64-bit numbers
// becomes an error.
template <typename Map>
ErrorReport make_datatype(Datatype*& made, ContentsWriter& contents, Map&& map) {
    try {
        TypeMap result = map();
        result.extent();
        result.true_extent();
        made = &datatype_pool().make();
        made->define(std::move(result), contents.take());
        return {};
    } catch (const TypeTooLarge& error) {
        return {kErrValueTooLarge, "newtype", error.what()};
    }
}

}  // namespace poe::mpi
