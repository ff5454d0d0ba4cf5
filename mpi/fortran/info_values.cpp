// Texts of which the program gives the length: values of Info (MPI 5.0, section 10) and names of
// process sets (section 11.3.2).
#include <algorithm>
#include <vector>

#include "mpi/fortran/by_hand.hpp"

namespace poe::mpi::fortran {

int info_get(const int* info, const char* key, const int* valuelen, char* value, int* flag,
             std::size_t key_length, std::size_t value_length) {
    const int length = std::max(*valuelen, 0);
    std::vector<char> text(static_cast<std::size_t>(length) + 1);
    const int code = MPI_Info_get(from_fortran<MPI_Info>(*info), trimmed(key, key_length).c_str(),
                                  *valuelen, text.data(), flag);
    if (code == MPI_SUCCESS && *flag != 0) copy_text(text.data(), value, value_length);
    return code;
}

// The length of a value in C includes the null character at its end, that of Fortran does not.
int info_get_string(const int* info, const char* key, int* buflen, char* value, int* flag,
                    std::size_t key_length, std::size_t value_length) {
    const bool wants_value = *buflen > 0;
    int length = wants_value ? *buflen + 1 : 0;
    std::vector<char> text(static_cast<std::size_t>(length) + 1);
    const int code =
        MPI_Info_get_string(from_fortran<MPI_Info>(*info), trimmed(key, key_length).c_str(),
                            &length, text.data(), flag);
    if (code != MPI_SUCCESS || *flag == 0) return code;
    *buflen = length - 1;
    if (wants_value) copy_text(text.data(), value, value_length);
    return code;
}

// The same is true of the length of a name.
int session_get_nth_pset(const int* session, const int* info, const int* n, int* pset_len,
                         char* pset_name, std::size_t pset_name_length) {
    const bool wants_name = *pset_len > 0;
    int length = wants_name ? *pset_len + 1 : 0;
    std::vector<char> text(static_cast<std::size_t>(length) + 1);
    const int code =
        MPI_Session_get_nth_pset(from_fortran<MPI_Session>(*session), from_fortran<MPI_Info>(*info),
                                 *n, &length, text.data());
    if (code != MPI_SUCCESS) return code;
    *pset_len = length - 1;
    if (wants_name) copy_text(text.data(), pset_name, pset_name_length);
    return code;
}

}  // namespace poe::mpi::fortran
