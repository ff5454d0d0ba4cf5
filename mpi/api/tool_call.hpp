// What the functions of the tools interface have in common: the check that it is initialized, and
// the storing of results, of which a tool may leave out each by a null pointer.
#pragma once

#include <algorithm>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "mpi/tool/handles.hpp"

namespace poe::mpi {

// Runs `work` if the interface is initialized, and returns its code.
template <typename Work>
int in_tools(Work&& work) {
    tool::Tools& all = tool::tools();
    const std::lock_guard guard(all.lock);
    if (all.initialized == 0) return MPI_T_ERR_NOT_INITIALIZED;
    try {
        return work(all);
    } catch (const std::bad_alloc&) {
        return MPI_T_ERR_MEMORY;
    } catch (...) {
        return MPI_T_ERR_INVALID;  // a change that the runtime could not make
    }
}

// The same for a function that also needs the turn: work(tools, runtime); the runtime is null if
// there is none, or if the turn cannot be had.
template <typename Work>
int in_tools_with_turn(Work&& work) {
    const tool::RuntimeTurn turn;
    return in_tools([&](tool::Tools& all) -> int { return work(all, turn.runtime()); });
}

template <typename T, typename Value>
int store(T* to, Value value) {
    if (to != nullptr) *to = static_cast<T>(value);
    return MPI_SUCCESS;
}

// Copies at most *length - 1 characters and a zero, or nothing if *length is 0 or there is no
// buffer. Sets *length to what the whole text needs, with the zero (15.3.3).
inline void copy_text(std::string_view text, char* to, int* length) {
    if (length == nullptr) return;
    if (to != nullptr && *length > 0)
        to[text.copy(to, static_cast<std::size_t>(*length) - 1)] = '\0';
    *length = static_cast<int>(text.size()) + 1;
}

// Returns the element with this number; null if there is none.
template <typename T>
const T* at(std::span<const T> all, int number) {
    if (number < 0 || static_cast<std::size_t>(number) >= all.size()) return nullptr;
    return &all[static_cast<std::size_t>(number)];
}

template <typename T>
int store_index(std::span<const T> all, const char* name, int* index) {
    if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::strcmp(all[i].name, name) == 0) return store(index, i);
    return MPI_T_ERR_INVALID_NAME;
}

// The numbers of the variables of a category.
template <typename T>
std::vector<int> numbers_about(std::span<const T> all, int topic) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].topic == topic) numbers.push_back(static_cast<int>(i));
    return numbers;
}

inline int store_numbers(const std::vector<int>& numbers, int length, int indices[]) {
    if (length < 0 || (length > 0 && indices == nullptr)) return MPI_T_ERR_INVALID;
    std::copy_n(numbers.begin(), std::min(numbers.size(), static_cast<std::size_t>(length)),
                indices);
    return MPI_SUCCESS;
}

// A handle of an enumeration is the address of its description.
inline MPI_T_enum handle_of_items(const tool::Enumeration* items) {
    return reinterpret_cast<MPI_T_enum>(const_cast<tool::Enumeration*>(items));
}
inline const tool::Enumeration* items_of(MPI_T_enum handle) {
    for (const tool::ControlVariable& each : tool::control_variables())
        if (each.items != nullptr && handle_of_items(each.items) == handle) return each.items;
    for (const tool::EventType& each : tool::event_types())
        if (handle_of_items(&each.elements) == handle) return &each.elements;
    return nullptr;
}

}  // namespace poe::mpi
