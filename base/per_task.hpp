// PerTask and PerNode: an array with an element for each task or node of a job, indexed by the id
// itself. Ids are signed, because -1 stands for no task, so a plain vector needs a conversion and a
// check at each use.
#pragma once

#include <cstddef>
#include <vector>

#include "base/check.hpp"
#include "base/types.hpp"

namespace poe {

template <typename Id, typename T>
class ById {
  public:
    ById() = default;
    // `count` elements, for the ids 0 to count - 1.
    explicit ById(Id count, const T& value = T())
        : elements_(static_cast<std::size_t>(count), value) {}
    explicit ById(std::vector<T> elements) : elements_(std::move(elements)) {}

    // The number of ids, in their own type.
    Id size() const noexcept { return static_cast<Id>(elements_.size()); }
    // True if `id` is one of the ids. An id from outside must be tested before it is used.
    bool has(Id id) const noexcept { return id >= 0 && id < size(); }

    // Precondition: has(id); another id is an internal error.
    decltype(auto) operator[](Id id) {
        POE_CHECK(has(id), id, size());
        return elements_[static_cast<std::size_t>(id)];
    }
    decltype(auto) operator[](Id id) const {
        POE_CHECK(has(id), id, size());
        return elements_[static_cast<std::size_t>(id)];
    }

    // Elements in the order of ids.
    auto begin() const noexcept { return elements_.begin(); }
    auto end() const noexcept { return elements_.end(); }
    void fill(const T& value) { elements_.assign(elements_.size(), value); }

  private:
    std::vector<T> elements_;
};

template <typename T>
using PerTask = ById<TaskId, T>;
template <typename T>
using PerNode = ById<NodeIndex, T>;

}  // namespace poe
