// The tools interface: its start and end, control variables, enumerations and categories (MPI 5.0,
// sections 15.3.2 to 15.3.6 and 15.3.9). These functions invoke no error handler, and are allowed
// before MPI is initialized and after it is finalized.
#include <algorithm>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <string_view>

#include "mpi/api/bodies.hpp"
#include "mpi/api/tool_call.hpp"
#include "mpi/tool/events.hpp"

namespace poe::mpi {

using namespace tool;

int t_init_thread(int required, int* provided) {
    Tools& all = tools();
    const std::lock_guard guard(all.lock);
    ++all.initialized;
    if (provided != nullptr)
        *provided = std::clamp(required, MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE);
    return MPI_SUCCESS;
}

int t_finalize() {
    Tools& all = tools();
    const std::lock_guard guard(all.lock);
    if (all.initialized == 0) return MPI_T_ERR_NOT_INITIALIZED;
    if (--all.initialized > 0) return MPI_SUCCESS;
    all.handles.clear();
    all.sessions.clear();
    free_event_handles(all);
    return MPI_SUCCESS;
}

int t_cvar_get_num(int* num) {
    return in_tools([&](Tools&) -> int { return store(num, control_variables().size()); });
}

int t_cvar_get_index(const char* name, int* index) {
    return in_tools([&](Tools&) -> int { return store_index(control_variables(), name, index); });
}

int t_cvar_get_info(int number, char* name, int* name_len, int* verbosity, MPI_Datatype* type,
                    MPI_T_enum* items, char* description, int* description_len, int* bind,
                    int* scope) {
    return in_tools([&](Tools&) -> int {
        const ControlVariable* found = at(control_variables(), number);
        if (found == nullptr) return MPI_T_ERR_INVALID_INDEX;
        copy_text(found->name, name, name_len);
        copy_text(found->description, description, description_len);
        store(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
        store(type, found->type);
        store(items, handle_of_items(found->items));
        store(bind, MPI_T_BIND_NO_OBJECT);
        return store(scope, found->scope);
    });
}

int t_cvar_handle_alloc(int number, void*, MPI_T_cvar_handle* handle, int* count) {
    return in_tools([&](Tools& all) -> int {
        const ControlVariable* found = at(control_variables(), number);
        if (found == nullptr) return MPI_T_ERR_INVALID_INDEX;
        if (handle == nullptr) return MPI_T_ERR_INVALID;
        auto made = std::make_unique<CvarHandle>(CvarHandle{found});
        *handle = reinterpret_cast<MPI_T_cvar_handle>(made.get());
        store(count, found->text != nullptr ? kMaxText : 1);
        all.handles.insert(std::move(made));
        return MPI_SUCCESS;
    });
}

int t_cvar_handle_free(MPI_T_cvar_handle* handle) {
    return in_tools([&](Tools& all) -> int {
        const CvarHandle* found = handle != nullptr ? find(all.handles, *handle) : nullptr;
        if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
        remove(all.handles, found);
        *handle = MPI_T_CVAR_HANDLE_NULL;
        return MPI_SUCCESS;
    });
}

int t_cvar_read(MPI_T_cvar_handle handle, void* buffer) {
    return in_tools_with_turn([&](Tools& all, comm::Runtime* runtime) -> int {
        const CvarHandle* found = find(all.handles, handle);
        if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
        if (buffer == nullptr) return MPI_T_ERR_INVALID;
        if (runtime == nullptr) return MPI_T_ERR_NOT_ACCESSIBLE;
        const ControlVariable& variable = *found->variable;
        if (variable.text != nullptr) {
            const std::string text = variable.text(*runtime);
            std::memset(buffer, 0, kMaxText);
            text.copy(static_cast<char*>(buffer), kMaxText - 1);
        } else if (variable.type == MPI_INT) {
            *static_cast<int*>(buffer) = static_cast<int>(variable.number(*runtime));
        } else {
            *static_cast<unsigned long long*>(buffer) = variable.number(*runtime);
        }
        return MPI_SUCCESS;
    });
}

int t_cvar_write(MPI_T_cvar_handle handle, const void* buffer) {
    return in_tools_with_turn([&](Tools& all, comm::Runtime* runtime) -> int {
        const CvarHandle* found = find(all.handles, handle);
        if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
        if (buffer == nullptr) return MPI_T_ERR_INVALID;
        const ControlVariable& variable = *found->variable;
        if (variable.change == nullptr) return MPI_T_ERR_CVAR_SET_NEVER;
        // The engine may be in the middle of what the variable controls.
        if (runtime == nullptr || CallbackTurn::exists()) return MPI_T_ERR_CVAR_SET_NOT_NOW;
        const std::uint64_t value = variable.type == MPI_INT
                                        ? static_cast<std::uint64_t>(static_cast<std::int64_t>(
                                              *static_cast<const int*>(buffer)))
                                        : *static_cast<const unsigned long long*>(buffer);
        return variable.change(*runtime, value) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
    });
}

int t_enum_get_info(MPI_T_enum items, int* num, char* name, int* name_len) {
    return in_tools([&](Tools&) -> int {
        const Enumeration* found = items_of(items);
        if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
        copy_text(found->name, name, name_len);
        return store(num, found->items.size());
    });
}

int t_enum_get_item(MPI_T_enum items, int number, int* value, char* name, int* name_len) {
    return in_tools([&](Tools&) -> int {
        const Enumeration* found = items_of(items);
        if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
        if (at(found->items, number) == nullptr) return MPI_T_ERR_INVALID_INDEX;
        copy_text(found->items[static_cast<std::size_t>(number)], name, name_len);
        return store(value, number);
    });
}

int t_category_get_num(int* num) {
    return in_tools([&](Tools&) -> int { return store(num, categories().size()); });
}

int t_category_get_index(const char* name, int* index) {
    return in_tools([&](Tools&) -> int { return store_index(categories(), name, index); });
}

int t_category_get_info(int number, char* name, int* name_len, char* description,
                        int* description_len, int* num_cvars, int* num_pvars, int* num_categories) {
    return in_tools([&](Tools&) -> int {
        const Category* found = at(categories(), number);
        if (found == nullptr) return MPI_T_ERR_INVALID_INDEX;
        copy_text(found->name, name, name_len);
        copy_text(found->description, description, description_len);
        store(num_cvars, numbers_about(control_variables(), number).size());
        store(num_pvars, numbers_about(performance_variables(), number).size());
        return store(num_categories, 0);
    });
}

int t_category_get_cvars(int number, int length, int indices[]) {
    return in_tools([&](Tools&) -> int {
        if (at(categories(), number) == nullptr) return MPI_T_ERR_INVALID_INDEX;
        return store_numbers(numbers_about(control_variables(), number), length, indices);
    });
}

int t_category_get_pvars(int number, int length, int indices[]) {
    return in_tools([&](Tools&) -> int {
        if (at(categories(), number) == nullptr) return MPI_T_ERR_INVALID_INDEX;
        return store_numbers(numbers_about(performance_variables(), number), length, indices);
    });
}

// There are no categories within categories.
int t_category_get_categories(int number, int, int[]) {
    return in_tools([&](Tools&) -> int {
        return at(categories(), number) == nullptr ? MPI_T_ERR_INVALID_INDEX : MPI_SUCCESS;
    });
}

int t_category_get_events(int number, int length, int indices[]) {
    return in_tools([&](Tools&) -> int {
        if (at(categories(), number) == nullptr) return MPI_T_ERR_INVALID_INDEX;
        return store_numbers(numbers_about(event_types(), number), length, indices);
    });
}

int t_category_get_num_events(int number, int* num) {
    return in_tools([&](Tools&) -> int {
        if (at(categories(), number) == nullptr) return MPI_T_ERR_INVALID_INDEX;
        return store(num, numbers_about(event_types(), number).size());
    });
}

// The tables never change.
int t_category_changed(int* update) {
    return in_tools([&](Tools&) -> int { return store(update, 0); });
}

}  // namespace poe::mpi
