// Views of files: which bytes a stream consists of, compared with a list of all bytes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <mpi.h>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "mpi/datatype/constructors.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/file/view.hpp"

using namespace poe;
using namespace poe::mpi;

namespace {

Datatype& predefined(MPI_Datatype handle) {
    return *find_predefined_datatype(value_of(handle));
}

// A filetype of blocks of cells, and the positions of its bytes.
struct Filetype {
    TypeReference type;
    std::vector<std::int64_t> bytes;
    std::int64_t extent = 0;
};

Filetype random_filetype(std::mt19937& random) {
    const auto draw = [&](int below) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(below));
    };
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> places;
    Filetype result;
    std::int64_t at = draw(3);
    for (std::int64_t left = 1 + draw(6); left > 0; --left) {
        lengths.push_back(1 + draw(4));
        places.push_back(at);
        for (std::int64_t i = 0; i < lengths.back() * 4; ++i) result.bytes.push_back(at * 4 + i);
        at += lengths.back() + draw(3);
    }
    result.extent = (at + draw(4)) * 4;
    Datatype* part = nullptr;
    Datatype* made = nullptr;
    REQUIRE(!type_indexed(Form::kLarge, static_cast<std::int64_t>(lengths.size()), lengths.data(),
                          places.data(), predefined(MPI_INT), part));
    REQUIRE(!type_create_resized(Form::kLarge, *part, 0, result.extent, made));
    part->release();
    made->commit();
    result.type = TypeReference(*made);
    made->release();
    return result;
}

View view_of(std::int64_t displacement, MPI_Datatype etype, const Filetype& filetype) {
    View view;
    REQUIRE(!make_view(displacement, predefined(etype), *filetype.type,
                       *find_representation("native"), true, view));
    return view;
}

}  // namespace

TEST_CASE("a stream has the bytes of its filetypes") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const Filetype filetype = random_filetype(random);
        const auto displacement = static_cast<std::int64_t>(random() % 100);
        const View view = view_of(displacement, MPI_INT, filetype);
        std::vector<std::int64_t> all;
        for (std::int64_t copy = 0; copy < 5; ++copy)
            for (const std::int64_t byte : filetype.bytes)
                all.push_back(displacement + copy * filetype.extent + byte);
        REQUIRE(view.stream.ordered);
        for (Bytes i = 0; i < all.size(); ++i) REQUIRE(view.stream.place(i) == all[i]);
        // How many bytes are before each position.
        for (std::int64_t position = 0; position < all.back(); ++position) {
            const auto before = static_cast<Bytes>(
                std::lower_bound(all.begin(), all.end(), position) - all.begin());
            REQUIRE(view.stream.find(position, 0, all.size()) == before);
            REQUIRE(view.stream.find(position, 0, view.stream.layout.size()) == before);
            REQUIRE(etypes_before(view, position) == static_cast<std::int64_t>((before + 3) / 4));
        }
        // The same bytes as extents, of which no two are adjacent.
        Bytes offset = random() % 5;
        std::vector<std::int64_t> listed(all.begin(),
                                         all.begin() + static_cast<std::ptrdiff_t>(offset));
        std::int64_t last = -1;
        while (offset < all.size()) {
            std::array<Extent, 3> extents;
            const std::size_t n = view.stream.extents(offset, all.size(), extents);
            REQUIRE(n > 0);
            for (std::size_t i = 0; i < n; ++i) {
                if (i > 0) REQUIRE(extents[i].at > last);
                for (std::int64_t b = 0; b < extents[i].bytes; ++b)
                    listed.push_back(extents[i].at + b);
                last = extents[i].at + extents[i].bytes;
            }
        }
        REQUIRE(listed == all);
    }
}

TEST_CASE("a stream reaches positions of any file") {
    std::mt19937 random(5);
    const Filetype filetype = random_filetype(random);
    const View view = view_of(0, MPI_INT, filetype);
    const std::int64_t far = std::int64_t{1} << 60;
    const Bytes offset = view.stream.find(far, 0, view.stream.layout.size());
    REQUIRE(view.stream.place(offset) >= far);
    REQUIRE(view.stream.place(offset - 1) < far);
    const View& bytes = *initial_view();
    REQUIRE(bytes.stream.contiguous);
    REQUIRE(bytes.stream.place(static_cast<Bytes>(far)) == far);
}

TEST_CASE("a stream that does not ascend is recognised") {
    const std::int64_t lengths[] = {1, 1};
    const std::int64_t down[] = {3, 0};
    const std::int64_t apart[] = {0, 3};
    for (const std::int64_t* places : {down, apart}) {
        Datatype* type = nullptr;
        REQUIRE(!type_indexed(Form::kLarge, 2, lengths, places, predefined(MPI_INT), type));
        type->commit();
        REQUIRE(make_stream(0, *type).ordered == (places == apart));
        // Copies that overlap.
        Datatype* narrow = nullptr;
        REQUIRE(!type_create_resized(Form::kLarge, *type, 0, 8, narrow));
        narrow->commit();
        REQUIRE(!make_stream(0, *narrow).ordered);
        narrow->release();
        type->release();
    }
}

TEST_CASE("views that make no sense are refused") {
    View view;
    const Representation& native = *find_representation("native");
    REQUIRE(make_view(0, predefined(MPI_INT), predefined(MPI_CHAR), native, true, view).code ==
            MPI_ERR_ARG);
    Datatype* nothing = nullptr;
    REQUIRE(!type_contiguous(Form::kLarge, 0, predefined(MPI_INT), nothing));
    nothing->commit();
    REQUIRE(make_view(0, *nothing, predefined(MPI_INT), native, true, view).code == MPI_ERR_ARG);
    nothing->release();
    const std::int64_t before[] = {-1};
    const std::int64_t one[] = {1};
    Datatype* negative = nullptr;
    REQUIRE(!type_indexed(Form::kLarge, 1, one, before, predefined(MPI_INT), negative));
    negative->commit();
    REQUIRE(make_view(8, predefined(MPI_INT), *negative, native, true, view).code == MPI_ERR_IO);
    negative->release();
}
