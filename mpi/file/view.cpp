// Views of files; see view.hpp.
#include "mpi/file/view.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace poe::mpi {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;

// The bytes that a node spans, from its first run to its last one.
struct Span {
    std::int64_t lower = 0;
    std::int64_t upper = 0;
    std::int64_t first = 0;  // where the first run begins
    std::int64_t last = 0;   // where the last run begins
    bool ascends = true;     // no run begins before an earlier one
    bool ordered = true;     // and none overlaps an earlier one
};

Span span_of(const Node& node) noexcept;

Span span_of_run(Bytes bytes) noexcept {
    Span run;
    run.upper = static_cast<std::int64_t>(bytes);
    return run;
}

// Adds a part that begins at `at`.
void append(Span& whole, bool first, const Span& part, std::int64_t at) noexcept {
    whole.ascends = whole.ascends && part.ascends && (first || part.first + at >= whole.last);
    whole.ordered = whole.ordered && part.ordered && (first || part.lower + at >= whole.upper);
    whole.lower = first ? part.lower + at : std::min(whole.lower, part.lower + at);
    whole.upper = first ? part.upper + at : std::max(whole.upper, part.upper + at);
    if (first) whole.first = part.first + at;
    whole.last = part.last + at;
}

Span span_of(const Node& node) noexcept {
    Span whole;
    switch (node.kind) {
        case Node::Kind::kRun:
            return span_of_run(node.size);
        case Node::Kind::kLoop: {
            // Two copies say how each copy lies to the one before; the last copy says where the end
            // is.
            const Span one = span_of(*node.child);
            append(whole, true, one, 0);
            if (node.count == 1) return whole;
            append(whole, false, one, node.stride);
            const bool ascends = whole.ascends;
            const bool ordered = whole.ordered;
            append(whole, false, one, (node.count - 1) * node.stride);
            whole.ascends = ascends;
            whole.ordered = ordered;
            return whole;
        }
        case Node::Kind::kBlocks:
            for (std::size_t i = 0; i < node.at.size(); ++i)
                append(whole, i == 0, span_of_run(node.end_of(i) - node.start_of(i)), node.at[i]);
            return whole;
        case Node::Kind::kSequence:
            for (std::size_t i = 0; i < node.at.size(); ++i)
                append(whole, i == 0, span_of(*node.children[i]), node.at[i]);
            return whole;
    }
    return whole;
}

Fault check_places(const Datatype& type, bool writable, const char* name) {
    if (type.map().true_lower_bound() < 0 || type.extent() < 0)
        return {MPI_ERR_IO, name, "it has a negative displacement or extent",
                "give a datatype with displacements from 0 on"};
    const Placed data = erase_types(type.map().data);
    if (data.node == nullptr) return {};
    const Span span = span_of(*data.node);
    if (!span.ascends)
        return {MPI_ERR_IO, name, "its displacements descend",
                "give a datatype with ascending displacements"};
    if (writable && !span.ordered)
        return {MPI_ERR_IO, name, "parts of it overlap, and the file was opened for writing",
                "give a datatype without overlaps"};
    return {};
}

}  // namespace

std::int64_t Stream::place(Bytes offset, Bytes& length) const noexcept {
    if (layout.size() == 0) {
        length = 0;
        return displacement;
    }
    // The "address" of a byte is its position in the file.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const base = reinterpret_cast<std::byte*>(displacement);
    return reinterpret_cast<std::int64_t>(layout.piece(base, offset, length));
}

std::size_t Stream::extents(Bytes& offset, Bytes end, std::span<Extent> out) const noexcept {
    std::size_t n = 0;
    while (offset < end) {
        Bytes length = 0;
        const std::int64_t at = place(offset, length);
        length = std::min(length, end - offset);
        if (n != 0 && out[n - 1].at + out[n - 1].bytes == at) {
            out[n - 1].bytes += static_cast<std::int64_t>(length);
        } else if (n == out.size()) {
            break;
        } else {
            out[n++] = {at, static_cast<std::int64_t>(length)};
        }
        offset += length;
    }
    return n;
}

Bytes Stream::find(std::int64_t position, Bytes low, Bytes high) const noexcept {
    if (contiguous) {
        const std::int64_t first = place(0);
        const auto at = static_cast<Bytes>(std::max<std::int64_t>(position - first, 0));
        return std::clamp(at, low, high);
    }
    // Invariant: bytes before `low` are before the position, those from `high` on are not.
    while (low < high) {
        const Bytes middle = low + (high - low) / 2;
        Bytes length = 0;
        const std::int64_t at = place(middle, length);
        if (at >= position) {
            high = middle;
        } else if (at + static_cast<std::int64_t>(length) >= position) {
            return std::min(high, middle + static_cast<Bytes>(position - at));
        } else {
            low = std::min(high, middle + length);
        }
    }
    return low;
}

std::byte* Stream::base_for(std::byte* memory, std::int64_t position) const noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::int64_t>(memory) - position +
                                        displacement);
}

std::int64_t most_filetypes(std::int64_t displacement, const FiletypeShape& shape) noexcept {
    const std::int64_t left =
        kMostBytes - std::clamp<std::int64_t>(displacement, 0, kMostBytes - 1);
    const std::int64_t step = std::max({shape.size, shape.extent, std::int64_t{1}});
    return std::max<std::int64_t>(1, left / step);
}

bool is_ordered(const Placed& data, std::int64_t extent) noexcept {
    if (data.node == nullptr) return true;
    const Span span = span_of(*data.node);
    return span.ordered && extent >= span.upper - span.lower;
}

Stream make_stream(std::int64_t displacement, const Datatype& filetype) {
    Stream stream;
    const FiletypeShape shape{filetype.extent(), filetype.size(), true};
    stream.displacement = displacement;
    stream.layout = filetype.layout(most_filetypes(displacement, shape));
    stream.ordered = is_ordered(erase_types(filetype.map().data), filetype.extent());
    Bytes length = 0;
    stream.place(0, length);
    stream.contiguous = length == stream.layout.size();
    return stream;
}

Fault make_view(std::int64_t displacement, Datatype& etype, Datatype& filetype,
                const Representation& how, bool writable, View& view) {
    if (etype.size() == 0)
        return {MPI_ERR_ARG, "etype", "the datatype has no data", "give a datatype with data"};
    // A filetype without data is the view of a member that has no part in collective calls.
    if (filetype.size() % etype.size() != 0)
        return {MPI_ERR_ARG, "filetype",
                "its " + std::to_string(filetype.size()) + " bytes are no multiple of the " +
                    std::to_string(etype.size()) + " bytes of the etype",
                "build the filetype from etypes"};
    TypeReference file_etype;
    TypeReference file_filetype;
    if (Fault fault = file_type(how, etype, file_etype)) return fault;
    if (Fault fault = file_type(how, filetype, file_filetype)) return fault;
    if (Fault fault = check_places(*file_etype, writable, "etype")) return fault;
    if (Fault fault = check_places(*file_filetype, writable, "filetype")) return fault;
    view.displacement = displacement;
    view.etype = TypeReference(etype);
    view.filetype = TypeReference(filetype);
    view.representation = &how;
    view.etype_bytes = file_etype->size();
    view.stream = make_stream(displacement, *file_filetype);
    view.file_filetype = std::move(file_filetype);
    return {};
}

std::shared_ptr<const View> initial_view() {
    static const auto* const initial = [] {
        auto made = std::make_shared<View>();
        Datatype& bytes = *find_predefined_datatype(value_of(MPI_BYTE));
        make_view(0, bytes, bytes, *find_representation("native"), true, *made);
        return new std::shared_ptr<const View>(std::move(made));
    }();
    return *initial;
}

std::int64_t etypes_before(const View& view, std::int64_t position) noexcept {
    const Bytes bytes = view.stream.find(position, 0, view.stream.layout.size());
    return (static_cast<std::int64_t>(bytes) + view.etype_bytes - 1) / view.etype_bytes;
}

}  // namespace poe::mpi
