// Events of the tools interface (MPI 5.0, section 15.3.8): datatypes, infos and levels of callback
// safety, and the functions of the program, which get levels of MPICH's interface.
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "mpi/foreign_abi/arguments.hpp"
#include "mpi/foreign_abi/by_hand.hpp"

namespace poe::mpi::foreign {
namespace {

// MPICH numbers the levels from 0, in this order.
constexpr std::array kLevels = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

MPI_T_cb_safety safety_in(MPI_T_cb_safety safety) noexcept {
    const auto number = static_cast<std::size_t>(safety);
    return number < kLevels.size() ? kLevels[number] : static_cast<MPI_T_cb_safety>(kNoValue);
}
int safety_out(MPI_T_cb_safety safety) noexcept {
    int number = 0;
    while (kLevels[static_cast<std::size_t>(number)] != safety) ++number;
    return number;
}

using OnEvent = void(MPI_T_event_instance, MPI_T_event_registration, int safety, void* user_data);
using OnFree = void(MPI_T_event_registration, int safety, void* user_data);
using OnDropped = void(MPI_Count, MPI_T_event_registration, int source, int safety,
                       void* user_data);

// A function of the program with its argument. Our library gets the address of this as the argument
// of the function that calls it.
struct Callback {
    Function* function;
    void* user_data;
};

// What the program has registered with a handle. A callback that was replaced stays until the
// handle is freed, because another thread may be about to call it.
struct Registered {
    std::deque<Callback> callbacks;
    Function* dropped_handler = nullptr;
};

struct Registrations {
    std::mutex lock;
    std::map<MPI_T_event_registration, Registered> of;
};

Registrations& registrations() {
    // Never destroyed, because events may be raised in exit handlers, too.
    static Registrations& all = *new Registrations;
    return all;
}

void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
              MPI_T_cb_safety safety, void* callback) {
    const Callback& of_program = *static_cast<Callback*>(callback);
    reinterpret_cast<OnEvent*>(of_program.function)(instance, registration, safety_out(safety),
                                                    of_program.user_data);
}

void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                MPI_T_cb_safety safety, void* callback) {
    Function* handler = nullptr;
    {
        Registrations& all = registrations();
        const std::lock_guard guard(all.lock);
        handler = all.of[registration].dropped_handler;
    }
    if (handler != nullptr)
        reinterpret_cast<OnDropped*>(handler)(count, registration, source, safety_out(safety),
                                              static_cast<Callback*>(callback)->user_data);
}

// No function of the handle runs any more.
void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* callback) {
    const std::unique_ptr<Callback> of_program(static_cast<Callback*>(callback));
    {
        Registrations& all = registrations();
        const std::lock_guard guard(all.lock);
        all.of.erase(registration);
    }
    if (of_program->function != nullptr)
        reinterpret_cast<OnFree*>(of_program->function)(registration, safety_out(safety),
                                                        of_program->user_data);
}

}  // namespace

int t_event_get_info(int event_index, char* name, int* name_len, int* verbosity,
                     Theirs<MPI_Datatype> array_of_datatypes[], MPI_Aint array_of_displacements[],
                     int* num_elements, MPI_T_enum* enumtype, Theirs<MPI_Info>* info, char* desc,
                     int* desc_len, int* bind) {
    IntOut<value_out<kMpiTVerbosity>> verbosity_(verbosity);
    IntOut<value_out<kMpiTBind>> bind_(bind);
    HandleOut<MPI_Info> info_(info);
    HandlesOut<MPI_Datatype> datatypes(
        num_elements == nullptr ? nullptr : array_of_datatypes,
        num_elements == nullptr || array_of_datatypes == nullptr ? 0 : *num_elements);
    return finish(library.T_event_get_info(event_index, name, name_len, verbosity_, datatypes,
                                           array_of_displacements, num_elements, enumtype, info_,
                                           desc, desc_len, bind_));
}

int t_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                      MPI_T_source_order* ordering, MPI_Count* ticks_per_second,
                      MPI_Count* max_ticks, Theirs<MPI_Info>* info) {
    HandleOut<MPI_Info> info_(info);
    MPI_T_source_order ours = MPI_T_SOURCE_UNORDERED;
    const int code = finish(library.T_source_get_info(source_index, name, name_len, desc, desc_len,
                                                      &ours, ticks_per_second, max_ticks, info_));
    // MPICH's numbers are one less.
    if (code == MPI_SUCCESS && ordering != nullptr)
        *ordering = static_cast<MPI_T_source_order>(ours - MPI_T_SOURCE_ORDERED);
    return code;
}

int t_event_register_callback(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, Theirs<MPI_Info> info, void* user_data,
                              Function event_cb_function) {
    Callback* callback = nullptr;
    if (event_cb_function != nullptr) {
        Registrations& all = registrations();
        const std::lock_guard guard(all.lock);
        callback = &all.of[event_registration].callbacks.emplace_back(
            Callback{event_cb_function, user_data});
    }
    return finish(library.T_event_register_callback(
        event_registration, safety_in(cb_safety), handle_in<MPI_Info>(info), callback,
        event_cb_function == nullptr ? nullptr : on_event));
}

int t_event_callback_get_info(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, Theirs<MPI_Info>* info_used) {
    HandleOut<MPI_Info> info(info_used);
    return finish(
        library.T_event_callback_get_info(event_registration, safety_in(cb_safety), info));
}
int t_event_callback_set_info(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, Theirs<MPI_Info> info) {
    return finish(library.T_event_callback_set_info(event_registration, safety_in(cb_safety),
                                                    handle_in<MPI_Info>(info)));
}

int t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                Function dropped_cb_function) {
    {
        Registrations& all = registrations();
        const std::lock_guard guard(all.lock);
        all.of[event_registration].dropped_handler = dropped_cb_function;
    }
    return finish(library.T_event_set_dropped_handler(
        event_registration, dropped_cb_function == nullptr ? nullptr : on_dropped));
}

int t_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                        Function free_cb_function) {
    auto callback = std::make_unique<Callback>(Callback{free_cb_function, user_data});
    const int code = library.T_event_handle_free(event_registration, callback.get(), on_free);
    // on_free() has it, or gets it later.
    if (code == MPI_SUCCESS) static_cast<void>(callback.release());
    return finish(code);
}

}  // namespace poe::mpi::foreign
