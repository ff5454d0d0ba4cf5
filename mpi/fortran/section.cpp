// Copies of sections that are not contiguous.
#include "mpi/fortran/section.hpp"

#include <cstring>

namespace poe::mpi::fortran {
namespace {

std::ptrdiff_t extent_of(const Descriptor::Dimension& dimension) noexcept {
    return dimension.upper - dimension.lower + 1;
}

std::ptrdiff_t stride_of(const Descriptor& section, int dimension) noexcept {
    const auto size = static_cast<std::ptrdiff_t>(section.element_size);
    return section.dimensions[dimension].stride * (section.span != 0 ? section.span : size);
}

}  // namespace

bool is_contiguous(const Descriptor& descriptor) noexcept {
    auto expected = static_cast<std::ptrdiff_t>(descriptor.element_size);
    bool dense = true;
    for (int i = 0; i < descriptor.rank; ++i) {
        const std::ptrdiff_t extent = extent_of(descriptor.dimensions[i]);
        if (extent <= 0) return true;
        if (extent > 1 && stride_of(descriptor, i) != expected) dense = false;
        expected *= extent;
    }
    return dense;
}

SectionCopy::SectionCopy(const Descriptor& section, bool written) : size_(section.element_size) {
    // The caller's descriptor ends after the last dimension.
    std::memcpy(static_cast<void*>(&section_), &section,
                offsetof(Descriptor, dimensions) +
                    static_cast<std::size_t>(section.rank) * sizeof(Descriptor::Dimension));
    for (int i = 0; i < section.rank; ++i)
        size_ *= static_cast<std::size_t>(extent_of(section.dimensions[i]));
    data_ = std::make_unique_for_overwrite<char[]>(size_);
    if (written) before_ = std::make_unique_for_overwrite<char[]>(size_);
}

// Calls move(element of the section, element of the copy) for each element, in the order of
// Fortran.
template <typename Move>
void SectionCopy::each_row(Move&& move) noexcept {
    std::ptrdiff_t position[15] = {};
    char* element = static_cast<char*>(section_.base);
    char* copy = data_.get();
    while (true) {
        move(element, copy);
        copy += section_.element_size;
        int i = 0;
        while (i < section_.rank) {
            element += stride_of(section_, i);
            if (++position[i] < extent_of(section_.dimensions[i])) break;
            element -= position[i] * stride_of(section_, i);
            position[i++] = 0;
        }
        if (i == section_.rank) return;
    }
}

void SectionCopy::copy_in() noexcept {
    each_row([size = section_.element_size](const char* element, char* copy) {
        std::memcpy(copy, element, size);
    });
    if (before_ != nullptr) std::memcpy(before_.get(), data_.get(), size_);
}

void SectionCopy::copy_back() noexcept {
    if (before_ == nullptr) return;
    each_row([this](char* element, const char* copy) {
        const char* before = before_.get() + (copy - data_.get());
        if (std::memcmp(copy, before, section_.element_size) != 0)
            std::memcpy(element, copy, section_.element_size);
    });
}

Section::Section(const Descriptor* descriptor, bool written)
    : address_(as_buffer(descriptor->base)) {
    if (is_contiguous(*descriptor)) [[likely]]
        return;
    copy_ = std::make_unique<SectionCopy>(*descriptor, written);
    copy_->copy_in();
    address_ = copy_->data();
}

int refuse_section(MPI_Comm comm) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

int refuse_section(MPI_Win win) {
    PMPI_Win_call_errhandler(win, MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

}  // namespace poe::mpi::fortran
