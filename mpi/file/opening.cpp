// Opening and closing files; see opening.hpp.
#include "mpi/file/opening.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collectives/engine/process_collectives.hpp"
#include "mpi/collective/sequence.hpp"
#include "mpi/communicator/duplication.hpp"
#include "mpi/communicator/exchange.hpp"
#include "mpi/file/shared_pointer.hpp"
#include "mpi/file/threads.hpp"
#include "mpi/process/environment.hpp"

namespace poe::mpi {
namespace {

constexpr int kOneOf = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY;
constexpr int kAllModes = kOneOf | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE |
                          MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
constexpr mode_t kPermissions = 0666;

// File systems whose clients keep caches of their own (linux/magic.h).
constexpr std::array<std::uint32_t, 7> kNetworkFileSystems{
    0x6969,      // NFS
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB 2 and later
    0x65735546,  // FUSE, for instance sshfs
    0x01021997,  // 9P
    0x5346414f,  // AFS
    0x0bd00bd0,  // Lustre
};

Fault check_amode(int amode) {
    const auto refuse = [](const char* what, const char* remedy) {
        return Fault{MPI_ERR_AMODE, "amode", what, remedy};
    };
    const int access = amode & kOneOf;
    if ((amode & ~kAllModes) != 0) return refuse("it has bits that are no mode", "");
    if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY)
        return refuse(
            "it has not exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY",
            "give one of them");
    if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
        return refuse("MPI_MODE_RDONLY excludes MPI_MODE_CREATE and MPI_MODE_EXCL",
                      "create the file with MPI_MODE_RDWR or MPI_MODE_WRONLY");
    if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
        return refuse("MPI_MODE_RDWR excludes MPI_MODE_SEQUENTIAL",
                      "use MPI_MODE_RDONLY or MPI_MODE_WRONLY");
    return {};
}

// The values of all members, by rank.
Fault gather_values(comm::Runtime& runtime, Comm& comm, std::array<std::int64_t, 2> own,
                    std::vector<std::array<std::int64_t, 2>>& all) {
    Words words(sizeof own / sizeof(std::int32_t));
    std::memcpy(words.data(), &own, sizeof own);
    Contributions gathered;
    if (Fault lost = gather_words(runtime, comm, words, gathered)) return lost;
    all.resize(static_cast<std::size_t>(comm.size()));
    std::memcpy(all.data(), gathered.local.data(), all.size() * sizeof own);
    return {};
}

// The bytes of a fault's text that other members get.
constexpr std::size_t kTextBytes = 1024;

// The fault of the member of this rank, at all members; each gives its own one, or none. So every
// member reports the cause, whichever of them ends the job.
Fault fault_of_member(comm::Runtime& runtime, Comm& comm, const std::string& name, std::size_t rank,
                      int code, const Fault& own) {
    Words words(2 * kTextBytes / sizeof(std::int32_t));
    auto* const given = reinterpret_cast<char*>(words.data());
    own.what.copy(given, kTextBytes - 1);
    own.remedy.copy(given + kTextBytes, kTextBytes - 1);
    Contributions gathered;
    if (Fault lost = gather_words(runtime, comm, words, gathered)) return lost;
    if (own) return own;
    const auto* const what =
        reinterpret_cast<const char*>(gathered.local.data() + rank * words.size());
    return {code, "",
            "the call has failed at rank " + std::to_string(rank) + " of the file '" + name +
                "': " + what,
            what + kTextBytes};
}

Fault agree(comm::Runtime& runtime, Comm& comm, const std::string& name, std::int64_t value,
            const char* argument, const Fault& own) {
    std::vector<std::array<std::int64_t, 2>> all;
    if (Fault lost = gather_values(runtime, comm, {value, own.code}, all)) return lost;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank][1] != MPI_SUCCESS)
            return fault_of_member(runtime, comm, name, rank, static_cast<int>(all[rank][1]), own);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank][0] != value)
            return {MPI_ERR_NOT_SAME, argument,
                    "rank 0 gives " + std::to_string(all[0][0]) +
                        " and another rank does not: rank " + std::to_string(rank) + " gives " +
                        std::to_string(all[rank][0]),
                    "give the same value in all tasks"};
    return {};
}

// Makes a system call again as long as a signal interrupts it. Its error number; 0: none.
template <typename SystemCall>
int error_of(SystemCall&& call) {
    int error = 0;
    do {
        error = call() == 0 ? 0 : errno;
    } while (error == EINTR);
    return error;
}

Fault open_descriptor(File& file, bool creates) {
    int flags = O_CLOEXEC;
    flags |= file.readable() ? (file.writable() ? O_RDWR : O_RDONLY) : O_WRONLY;
    if (creates && (file.amode & MPI_MODE_CREATE) != 0) flags |= O_CREAT;
    if (creates && (file.amode & MPI_MODE_EXCL) != 0) flags |= O_EXCL;
    int descriptor = -1;
    do {
        descriptor = ::open(file.name.c_str(), flags, kPermissions);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return system_fault(errno, "cannot open", file.name);
    file.descriptor.reset(descriptor);
    struct stat facts {};
    if (::fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode))
        return system_fault(EISDIR, "cannot open", file.name);
    struct statfs system {};
    file.on_network =
        ::fstatfs(descriptor, &system) == 0 &&
        std::find(kNetworkFileSystems.begin(), kNetworkFileSystems.end(),
                  static_cast<std::uint32_t>(system.f_type)) != kNetworkFileSystems.end();
    return {};
}

// Rank 0 opens the file first, because only one member may create it.
Fault open_everywhere(comm::Runtime& runtime, File& file) {
    Fault own;
    // To open may block: a pipe waits for its other end.
    if (file.rank() == 0) without_turn(runtime, [&] { own = open_descriptor(file, true); });
    if (Fault fault = agree_on_fault(runtime, *file.comm, file.name, own)) return fault;
    if (file.size() == 1) return {};
    if (file.rank() != 0) without_turn(runtime, [&] { own = open_descriptor(file, false); });
    return agree_on_fault(runtime, *file.comm, file.name, own);
}

// As many members as the hint says, otherwise one of each node; of different nodes as far as
// possible.
std::vector<int> choose_aggregators(comm::Runtime& runtime, const File& file) {
    std::vector<std::vector<int>> nodes;
    std::vector<std::uint32_t> known;
    for (int rank = 0; rank < file.size(); ++rank) {
        const std::uint32_t node =
            runtime.segment() == nullptr
                ? 0
                : static_cast<std::uint32_t>(runtime.node_of(file.comm->local->task(rank)));
        auto found = std::find(known.begin(), known.end(), node);
        if (found == known.end()) {
            found = known.insert(known.end(), node);
            nodes.emplace_back();
        }
        nodes[static_cast<std::size_t>(found - known.begin())].push_back(rank);
    }
    const auto wanted = static_cast<std::size_t>(
        file.hints.aggregators > 0 ? std::min<std::int64_t>(file.hints.aggregators, file.size())
                                   : static_cast<std::int64_t>(nodes.size()));
    std::vector<int> chosen;
    for (std::size_t depth = 0; chosen.size() < wanted; ++depth)
        for (const auto& node : nodes)
            if (depth < node.size() && chosen.size() < wanted) chosen.push_back(node[depth]);
    return chosen;
}

Fault set_up(comm::Runtime& runtime, File& file, const Info* info) {
    const Fault mode = check_amode(file.amode);
    if (Fault fault = agree(runtime, *file.comm, file.name, file.amode, "amode", mode))
        return fault;
    if (Fault fault = open_everywhere(runtime, file)) return fault;
    {
        const std::lock_guard guard(environment().lock);
        add_file_hints(file.info, file.hints, info);
    }
    // Hints may differ between members. What must be the same at all members is taken from rank 0.
    std::vector<std::array<std::int64_t, 2>> hints;
    if (Fault fault = gather_values(runtime, *file.comm,
                                    {file.hints.aggregators, file.hints.collective_buffer}, hints))
        return fault;
    file.hints.aggregators = hints[0][0];
    file.hints.collective_buffer = hints[0][1];
    file.aggregators = choose_aggregators(runtime, file);
    if (file.size() > 1) {
        if (Fault fault = SharedPointer::make(runtime, *file.comm, file.shared)) return fault;
    }
    if ((file.amode & MPI_MODE_APPEND) == 0) return {};
    std::int64_t size = 0;
    if (Fault fault = size_of_file(runtime, file, size)) return fault;
    file.position = static_cast<Bytes>(size);
    if (file.size() == 1) {
        file.own_pointer = size;
        return {};
    }
    Fault own;
    if (file.rank() == 0) own = file.shared->store(runtime, size);
    return agree_on_fault(runtime, *file.comm, file.name, own);
}

}  // namespace

void set_file_hints(File& file, const Info* given) {
    const FileHints before = file.hints;
    add_file_hints(file.info, file.hints, given);
    file.hints.aggregators = before.aggregators;
    file.hints.collective_buffer = before.collective_buffer;
}

Fault agree_on_value(comm::Runtime& runtime, File& file, std::int64_t value, const char* argument,
                     const Fault& fault) {
    return agree(runtime, *file.comm, file.name, value, argument, fault);
}

Fault agree_on_fault(comm::Runtime& runtime, Comm& comm, const std::string& name,
                     const Fault& own) {
    return agree(runtime, comm, name, 0, "", own);
}

Fault meet(comm::Runtime& runtime, const File& file) {
    Contributions all;
    return gather_words(runtime, *file.comm, {0}, all);
}

MadeFile open_file(comm::Runtime& runtime, Comm& comm, const std::string& name, int amode,
                   const Info* info) {
    Duplication duplication(runtime, comm);
    duplication.start();
    duplication.finish();
    if (duplication.fault()) return {nullptr, duplication.fault()};
    MadeComm made = make_comm(comm, duplication.result());
    if (made.comm == nullptr) return {nullptr, made.fault};
    set_name(*made.comm, "file " + name);
    // Errors belong to the file. Check mode reports its own to the communicator.
    environment().release(made.comm->errhandler);
    made.comm->errhandler = MPI_ERRORS_RETURN;
    File& file = file_pool().make();
    file.comm = made.comm;
    file.name = name;
    file.amode = amode;
    environment().retain(environment().file_errhandler);
    file.errhandler = environment().file_errhandler;
    Fault fault = set_up(runtime, file, info);
    if (!fault) return {&file, {}};
    if (file.shared != nullptr) file.shared->close(runtime);
    file_pool().release(file);
    return {nullptr, std::move(fault)};
}

Fault close_file(comm::Runtime& runtime, File& file) {
    Fault fault;
    if (file.shared != nullptr) fault = file.shared->close(runtime);
    Fault own;
    without_turn(runtime, [&] {
        if (file.on_network && file.writable()) own = sync_file(file);
        // A network file system may report a failed write here.
        if (::close(file.descriptor.release()) != 0 && errno != EINTR && !own)
            own = system_fault(errno, "cannot write to", file.name);
    });
    Fault failed = agree_on_fault(runtime, *file.comm, file.name, own);
    if (!fault) fault = std::move(failed);
    if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
        Fault deleted;
        if (file.rank() == 0) deleted = delete_file(runtime, file.name);
        failed = agree_on_fault(runtime, *file.comm, file.name, deleted);
        if (!fault) fault = std::move(failed);
    }
    file_pool().release(file);
    return fault;
}

Fault delete_file(comm::Runtime& runtime, const std::string& name) {
    int error = 0;
    without_turn(runtime, [&] { error = ::unlink(name.c_str()) == 0 ? 0 : errno; });
    return error == 0 ? Fault{} : system_fault(error, "cannot delete", name);
}

Fault size_of_file(comm::Runtime& runtime, const File& file, std::int64_t& size) {
    struct stat facts {};
    int error = 0;
    without_turn(runtime, [&] { error = ::fstat(file.descriptor.get(), &facts) == 0 ? 0 : errno; });
    if (error != 0) return system_fault(error, "cannot find out the size of", file.name);
    size = facts.st_size;
    return {};
}

Fault resize_file(comm::Runtime& runtime, File& file, std::int64_t size) {
    // No member may still write when rank 0 shortens the file.
    if (Fault fault = agree_on_value(runtime, file, size, "size", {})) return fault;
    Fault own;
    if (file.rank() == 0) {
        int error = 0;
        use_file(runtime, file, [&] {
            error = error_of([&] { return ::ftruncate(file.descriptor.get(), size); });
        });
        if (error != 0) own = system_fault(error, "cannot change the size of", file.name);
    }
    return agree_on_fault(runtime, *file.comm, file.name, own);
}

Fault preallocate_file(comm::Runtime& runtime, File& file, std::int64_t size) {
    if (Fault fault = agree_on_value(runtime, file, size, "size", {})) return fault;
    Fault own;
    if (file.rank() == 0 && size > 0) {
        int error = 0;
        use_file(runtime, file, [&] {
            error =
                error_of([&] { return errno = ::posix_fallocate(file.descriptor.get(), 0, size); });
        });
        if (error != 0) own = system_fault(error, "cannot reserve space for", file.name);
    }
    return agree_on_fault(runtime, *file.comm, file.name, own);
}

Fault sync_file(File& file) {
    // Files that are no files on a device, such as pipes, cannot be synchronised and need not be.
    const int error = error_of([&] { return ::fsync(file.descriptor.get()); });
    if (error != 0 && error != EINVAL && error != EROFS)
        return system_fault(error, "cannot synchronise", file.name);
    if (!file.on_network) return {};
    // A client of NFS compares its cache with the server when it takes a lock.
    struct flock what {};
    what.l_type = static_cast<short>(file.readable() ? F_RDLCK : F_WRLCK);
    what.l_whence = SEEK_SET;
    if (::fcntl(file.descriptor.get(), F_OFD_SETLK, &what) == 0) {
        what.l_type = F_UNLCK;
        ::fcntl(file.descriptor.get(), F_OFD_SETLK, &what);
    }
    // Other clients, such as those of FUSE, do not. They are asked to forget the contents, and to
    // ask the server for the length.
    ::posix_fadvise(file.descriptor.get(), 0, 0, POSIX_FADV_DONTNEED);
    struct statx facts {};
    ::statx(file.descriptor.get(), "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &facts);
    return {};
}

}  // namespace poe::mpi
