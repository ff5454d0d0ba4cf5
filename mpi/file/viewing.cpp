// MPI_File_set_view: each member sends its view to the aggregators, so that in collective calls
// they know where in the file the data of the others are. A description of a view is
//
//   number   meaning
//   0        displacement
//   1        1: ordered
//   2        bytes of the filetype
//   3 ...    the filetype in the representation of the file (mpi/window/target_type.hpp)
#include <algorithm>

#include "collectives/engine/process_collectives.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/file/opening.hpp"
#include "mpi/file/shared_pointer.hpp"

namespace poe::mpi {
namespace {

constexpr std::size_t kHeadNumbers = 3;

TypeNumbers describe_view(const View& view) {
    TypeNumbers numbers{view.displacement, view.stream.ordered ? 1 : 0, view.file_filetype->size()};
    const TypeNumbers type = describe_type(*view.file_filetype);
    numbers.insert(numbers.end(), type.begin(), type.end());
    return numbers;
}

MemberView member_view(const TypeNumbers& numbers) {
    MemberView view;
    view.type = TargetType(std::span(numbers).subspan(kHeadNumbers));
    view.stream.displacement = numbers[0];
    view.stream.ordered = numbers[1] != 0;
    const std::int64_t extent = numbers[kHeadNumbers];
    view.stream.layout = view.type.layout(most_filetypes(numbers[0], {extent, numbers[2], true}));
    Bytes length = 0;
    view.stream.place(0, length);
    view.stream.contiguous = length == view.stream.layout.size();
    return view;
}

// The descriptions of all members, at the aggregators.
Fault exchange_views(comm::Runtime& runtime, File& file) {
    const TypeNumbers own = describe_view(*file.view);
    Contributions lengths;
    if (Fault lost =
            gather_words(runtime, *file.comm, {static_cast<std::int32_t>(own.size())}, lengths))
        return lost;
    const auto& chosen = file.aggregators;
    const bool receives = std::find(chosen.begin(), chosen.end(), file.rank()) != chosen.end();
    std::vector<TypeNumbers> all(receives ? lengths.local.size() : 0);
    Sequence sequence(collectives::the_collectives(runtime), *file.comm,
                      Sequence::Form::kImmediate);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        all[rank].resize(static_cast<std::size_t>(lengths.local[rank]));
        sequence.receive(file.comm->local->task(static_cast<int>(rank)),
                         Data(all[rank].data(), all[rank].size() * sizeof(std::int64_t)));
    }
    TypeNumbers sent = own;
    for (const int rank : chosen)
        sequence.send(file.comm->local->task(rank),
                      Data(sent.data(), sent.size() * sizeof(std::int64_t)));
    sequence.exchange();
    if (!sequence.ok()) return sequence.fault();
    auto views = std::make_shared<std::vector<MemberView>>();
    for (const TypeNumbers& numbers : all) views->push_back(member_view(numbers));
    file.member_views = std::move(views);
    return {};
}

}  // namespace

Fault set_view(comm::Runtime& runtime, File& file, View view, const Fault& fault) {
    if (Fault any = agree_on_fault(runtime, *file.comm, file.name, fault)) return any;
    file.view = std::make_shared<const View>(std::move(view));
    file.position = 0;
    if (file.size() == 1) {
        file.own_pointer = 0;
        return {};
    }
    // Nobody uses the shared file pointer before the end of this call.
    Fault own;
    if (file.rank() == 0) own = file.shared->store(runtime, 0);
    if (Fault any = agree_on_fault(runtime, *file.comm, file.name, own)) return any;
    return exchange_views(runtime, file);
}

}  // namespace poe::mpi
