// Hints of files; see hints.hpp.
#include "mpi/file/hints.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "mpi/communicator/hints.hpp"

namespace poe::mpi {
namespace {

// Hints that choose something here, and those that describe the file for others: they are kept, so
// that MPI_File_get_info returns them.
constexpr std::array<std::string_view, 20> kFileHints{
    "cb_nodes",           "cb_buffer_size",       "romio_cb_read",
    "romio_cb_write",     "collective_buffering", "ind_rd_buffer_size",
    "ind_wr_buffer_size", "romio_ds_read",        "romio_ds_write",
    "access_style",       "cb_block_size",        "chunked",
    "chunked_item",       "chunked_size",         "file_perm",
    "filename",           "io_node_list",         "nb_proc",
    "striping_factor",    "striping_unit",
};

constexpr std::int64_t kLeastBuffer = 4096;
constexpr std::int64_t kMostBuffer = std::int64_t{1} << 30;

void read_number(const Info& info, const char* key, std::int64_t least, std::int64_t most,
                 std::int64_t& value) {
    const std::string* text = info.find(key);
    if (text == nullptr) return;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error == std::errc() && end == text->data() + text->size() && number >= least &&
        number <= most)
        value = number;
}

void read_choice(const Info& info, const char* key, Choice& value) {
    const std::string* text = info.find(key);
    if (text == nullptr) return;
    if (*text == "enable" || *text == "true") value = Choice::kEnable;
    if (*text == "disable" || *text == "false") value = Choice::kDisable;
    if (*text == "automatic") value = Choice::kAutomatic;
}

const char* text_of(Choice choice) noexcept {
    if (choice == Choice::kAutomatic) return "automatic";
    return choice == Choice::kEnable ? "enable" : "disable";
}

}  // namespace

void add_file_hints(MPI_Info& list, FileHints& hints, const Info* given) {
    if (given == nullptr) return;
    add_known_hints(list, kFileHints, given);
    read_number(*given, "cb_nodes", 1, 1 << 20, hints.aggregators);
    read_number(*given, "cb_buffer_size", kLeastBuffer, kMostBuffer, hints.collective_buffer);
    read_number(*given, "ind_rd_buffer_size", kLeastBuffer, kMostBuffer, hints.read_buffer);
    read_number(*given, "ind_wr_buffer_size", kLeastBuffer, kMostBuffer, hints.write_buffer);
    read_choice(*given, "collective_buffering", hints.exchange_reads);
    read_choice(*given, "collective_buffering", hints.exchange_writes);
    read_choice(*given, "romio_cb_read", hints.exchange_reads);
    read_choice(*given, "romio_cb_write", hints.exchange_writes);
    read_choice(*given, "romio_ds_read", hints.sieve_reads);
    read_choice(*given, "romio_ds_write", hints.sieve_writes);
}

void add_used_hints(const FileHints& hints, Info& list) {
    list.set("cb_buffer_size", std::to_string(hints.collective_buffer));
    list.set("ind_rd_buffer_size", std::to_string(hints.read_buffer));
    list.set("ind_wr_buffer_size", std::to_string(hints.write_buffer));
    list.set("romio_cb_read", text_of(hints.exchange_reads));
    list.set("romio_cb_write", text_of(hints.exchange_writes));
    list.set("romio_ds_read", text_of(hints.sieve_reads));
    list.set("romio_ds_write", text_of(hints.sieve_writes));
}

}  // namespace poe::mpi
