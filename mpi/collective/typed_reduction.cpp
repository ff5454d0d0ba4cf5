// Operations of MPI for CCL; see typed_reduction.hpp.
#include "mpi/collective/typed_reduction.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/collective/data.hpp"
#include "mpi/datatype/queries.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

// A longer element is not cut out of a vector, because the pieces of CCL's shared memory are short.
constexpr std::int64_t kLongestElement = 4096;

bool is_exact(const PredefinedType& type) noexcept {
    return type.element < Element::kFloat16 && type.type_class != TypeClass::kComplex;
}

}  // namespace

TypedReduction::~TypedReduction() {
    if (operation_ != nullptr) environment().operations.release(*operation_);
}

const collectives::Reduction& TypedReduction::repeat(const KnownReduction& known) noexcept {
    if (known.op != op_ || known.type != handle_) {
        use(known, static_cast<std::int64_t>(bytes_without_gaps(value_of(known.type))));
        repeated_ = reduction();
    }
    return repeated_;
}

void TypedReduction::use(const KnownReduction& known, std::int64_t extent) noexcept {
    op_ = known.op;
    handle_ = known.type;
    kernel_ = known.kernel;
    commutative_ = known.commutative;
    exact_ = known.exact;
    extent_ = span_ = extent;
}

Fault TypedReduction::define(MPI_Op op, MPI_Datatype handle, const Datatype& type,
                             KnownReduction& last) {
    if (op == last.op && handle == last.type) [[likely]] {
        use(last, type.extent());
        return {};
    }
    operation_ = find<Operation>(op);
    if (operation_ == nullptr && !is_predefined_operation(op)) {
        return {MPI_ERR_OP, "op", op == MPI_OP_NULL ? "it is MPI_OP_NULL" : "it is no operation",
                ""};
    }
    if (operation_ != nullptr) add_reference(*operation_);
    const MPI_Datatype operands = operand_type(handle);
    if (Fault fault = check_operation(op, operands)) return fault;
    if (operation_ == nullptr) {
        const PredefinedType& predefined = *find_predefined_type(value_of(operands));
        last = {op, handle, find_kernel(value_of(op), predefined), is_commutative(op),
                is_exact(predefined)};
        use(last, type.extent());
        return {};
    }
    op_ = op;
    handle_ = handle;
    commutative_ = is_commutative(op);
    extent_ = type.extent();
    lower_ = type.map().true_lower_bound();
    span_ = type.map().true_extent();
    separate_ = extent_ >= span_ && extent_ > 0;
    const Data two(type, nullptr, 2);
    direct_ = lower_ == 0 && two.contiguous && extent_ == type.size() && extent_ > 0;
    return {};
}

collectives::Reduction TypedReduction::reduction() const noexcept {
    collectives::Reduction result;
    result.name = kernel_ != nullptr ? "operation" : nullptr;
    result.element =
        separate_ && extent_ <= kLongestElement ? static_cast<Bytes>(extent_) : Bytes{0};
    result.exact = exact_;
    result.operation = this;
    return result;
}

void TypedReduction::describe(collectives::Shape& shape) const noexcept {
    const collectives::Reduction made = reduction();
    shape.element = made.element;
    shape.commutative = commutative_;
    shape.exact = made.exact;
}

Bytes TypedReduction::bytes(std::int64_t count) const noexcept {
    if (count == 0) return 0;
    if (separate_) return static_cast<Bytes>(extent_) * static_cast<Bytes>(count);
    const std::int64_t distance = extent_ < 0 ? -extent_ : extent_;
    return static_cast<Bytes>(distance * (count - 1) + span_);
}

std::byte* TypedReduction::origin(std::byte* vector, std::int64_t count) const noexcept {
    const std::int64_t before = extent_ < 0 && count > 1 ? (count - 1) * extent_ : 0;
    return moved_address(vector, -lower_ - before);
}

// An uncut vector has all its elements.
std::int64_t TypedReduction::elements(Bytes length) const noexcept {
    const auto all = static_cast<std::int64_t>(length);
    if (separate_) return all / extent_;
    const std::int64_t distance = extent_ < 0 ? -extent_ : extent_;
    return distance == 0 ? 1 : (all - span_) / distance + 1;
}

void TypedReduction::apply_program(const std::byte* in, std::byte* inout, Bytes length) const {
    const std::int64_t count = elements(length);
    apply(op_, origin(const_cast<std::byte*>(in), count), origin(inout, count), count, handle_,
          extent_);
}

void TypedReduction::reduce(std::byte* out, const std::byte* one, const std::byte* two,
                            Bytes length) const {
    if (kernel_ != nullptr) return kernel_(one, two, out, length);
    if (length == 0) return;
    // A commutative operation may take its operands in either order.
    if (out == one && commutative_) std::swap(one, two);
    if (out == one) {
        copy_.resize(std::max<std::size_t>(copy_.size(), length));
        std::memcpy(copy_.data(), two, length);
        apply_program(one, copy_.data(), length);
        std::memcpy(out, copy_.data(), length);
        return;
    }
    if (out != two) std::memcpy(out, two, length);
    apply_program(one, out, length);
}

}  // namespace poe::mpi
