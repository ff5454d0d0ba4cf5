// Operands of reductions; see vectors.hpp.
#include "mpi/collective/vectors.hpp"

#include <cstring>

namespace poe::mpi::collective {

Vectors::Vectors(Sequence& sequence, const Operands& operands, bool gives, bool gets) {
    if (operands.count < 0) {
        sequence.fail(MPI_ERR_COUNT, "count", std::to_string(operands.count) + " is negative");
        return;
    }
    type_ = sequence.type(operands.type, "datatype");
    if (type_ == nullptr) return;
    reduction_ = &sequence.define(operands.op, operands.type, *type_);
    if (gives && operands.send != MPI_IN_PLACE)
        sequence.check_data(*type_, operands.send, operands.count, kOperandNames);
    if (gets || operands.send == MPI_IN_PLACE)
        sequence.check_data(*type_, operands.receive, operands.count, kResultNames);
    if (gives && gets && operands.count > 0 && operands.send == operands.receive &&
        type_->size() > 0) {
        sequence.fail(MPI_ERR_BUFFER, "sendbuf", "it is the same buffer as recvbuf",
                      "use MPI_IN_PLACE");
    }
}

const std::byte* Vectors::given(Sequence& sequence, const void* address, std::int64_t count,
                                bool copy) const {
    if (reduction_->direct() && !copy) return static_cast<const std::byte*>(address);
    const Bytes bytes = reduction_->bytes(count);
    std::byte* const vector = sequence.scratch(bytes);
    if (reduction_->direct()) {
        sequence.local([address, vector, bytes] { std::memcpy(vector, address, bytes); });
    } else {
        make_image(sequence, address, 0, count, vector);
    }
    return vector;
}

void Vectors::make_image(Sequence& sequence, const void* address, std::int64_t first,
                         std::int64_t count, std::byte* image) const {
    const Data from = program(element(address, first), count);
    const Data to = program(reduction_->origin(image, count), count);
    std::byte* const packed = sequence.scratch(from.bytes);
    sequence.local([from, to, packed] { copy_data(from, to, packed); });
}

std::byte* Vectors::result(Sequence& sequence, void* address, std::int64_t count) const {
    return reduction_->direct() ? static_cast<std::byte*>(address)
                                : sequence.scratch(reduction_->bytes(count));
}

void Vectors::put(Sequence& sequence, const std::byte* vector, void* address,
                  std::int64_t count) const {
    if (vector == address) return;
    const Data from = part(const_cast<std::byte*>(vector), count, 0, count);
    const Data to = program(address, count);
    std::byte* const packed =
        from.contiguous || to.contiguous ? nullptr : sequence.scratch(from.bytes);
    sequence.local([from, to, packed] { copy_data(from, to, packed); });
}

Data Vectors::part(std::byte* vector, std::int64_t count, std::int64_t first,
                   std::int64_t elements) const noexcept {
    std::byte* const origin = reduction_->direct() ? vector : reduction_->origin(vector, count);
    return program(element(origin, first), elements);
}

}  // namespace poe::mpi::collective
