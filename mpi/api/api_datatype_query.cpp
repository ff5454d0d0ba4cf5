// What programs ask about datatypes, and numbers of elements in statuses (MPI 5.0, sections 3.2.5,
// 5.1.5 to 5.1.13 and 13.3). A number that does not fit an int of the program becomes
// MPI_UNDEFINED.
#include <algorithm>
#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/datatype_call.hpp"
#include "mpi/object/status.hpp"

namespace poe::mpi {

int type_size(Call&, MPI_Datatype datatype, CountOut size) {
    size.set(datatype_of(datatype).size());
    return MPI_SUCCESS;
}

int type_get_extent(Call&, MPI_Datatype datatype, CountOut lb, CountOut extent) {
    const Datatype& type = datatype_of(datatype);
    lb.set(type.lower_bound());
    extent.set(type.extent());
    return MPI_SUCCESS;
}

int type_get_true_extent(Call&, MPI_Datatype datatype, CountOut true_lb, CountOut true_extent) {
    const TypeMap& map = datatype_of(datatype).map();
    true_lb.set(map.true_lower_bound());
    true_extent.set(map.true_extent());
    return MPI_SUCCESS;
}

int type_set_name(Call& call, MPI_Datatype datatype, const char* type_name) {
    return finish(call, type_set_name(datatype_of(datatype), type_name));
}

int type_get_name(Call&, MPI_Datatype datatype, char* type_name, int* resultlen) {
    const std::string_view name = datatype_of(datatype).name();
    *std::copy(name.begin(), name.end(), type_name) = '\0';
    *resultlen = static_cast<int>(name.size());
    return MPI_SUCCESS;
}

int type_get_envelope(Call& call, MPI_Datatype datatype, CountOut num_integers,
                      CountOut num_addresses, CountOut num_large_counts, CountOut num_datatypes,
                      int* combiner) {
    Envelope envelope;
    if (const ErrorReport error =
            type_get_envelope(form_of(call), datatype_of(datatype), envelope)) {
        return finish(call, error);
    }
    num_integers.set(envelope.integers);
    num_addresses.set(envelope.addresses);
    num_large_counts.set(envelope.large_counts);
    num_datatypes.set(envelope.datatypes);
    *combiner = static_cast<int>(envelope.combiner);
    return MPI_SUCCESS;
}

int type_get_contents(Call& call, MPI_Datatype datatype, MPI_Count max_integers,
                      MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes,
                      int* array_of_integers, MPI_Aint* array_of_addresses,
                      MPI_Count* array_of_large_counts, MPI_Datatype* array_of_datatypes) {
    return finish(call, type_get_contents(form_of(call), datatype_of(datatype),
                                          {max_integers, max_addresses, max_large_counts,
                                           max_datatypes, array_of_integers, array_of_addresses,
                                           array_of_large_counts, array_of_datatypes}));
}

int get_count(Call&, const MPI_Status* status, MPI_Datatype datatype, CountOut count) {
    count.set(get_count(datatype_of(datatype), received_bytes(*status)));
    return MPI_SUCCESS;
}

int get_elements(Call&, const MPI_Status* status, MPI_Datatype datatype, CountOut count) {
    count.set(get_elements(datatype_of(datatype), received_bytes(*status)));
    return MPI_SUCCESS;
}

int status_set_elements(Call& call, MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
    std::int64_t bytes = 0;
    const ErrorReport error = bytes_of_elements(datatype_of(datatype), count, bytes);
    if (!error) set_received_bytes(*status, bytes);
    return finish(call, error);
}

}  // namespace poe::mpi
