// Transfers files from task to task; the common part of mcp, mcpscat and mcpgath. A tree becomes a
// sequence of entries. An entry is a header, a name and blocks of at most kBlockBytes. A Link
// carries the bytes to the other side (one task, or all).
//
// A file appears under its name only when it is complete: it is written under a temporary name in
// the same directory and then renamed. If something cannot be read or written, an error is reported
// on standard error and counted, the entry is left out, and the transfer continues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace poe::copy {

inline constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// Carries bytes to the other side in order. Both sides know the number of bytes. Both functions
// block, and end the program if the job is broken.
struct Link {
    std::function<void(const void*, std::size_t)> put;
    std::function<void(void*, std::size_t)> get;
};

// An item to be copied: its path, and its name on the other side, relative to the target there (""
// for the item itself).
struct Source {
    std::string path;
    std::string name;
};

// Returns a file, or a directory with everything below it, directories first. Adds an error to
// `troubles` for each item that cannot be examined, or that is no file, directory or symbolic link.
std::vector<Source> expand_tree(const Source& root, std::vector<std::string>& troubles);

// Returns the paths that match a shell pattern (see glob(7)); the pattern itself if none matches.
std::vector<std::string> expand_pattern(const std::string& pattern);

// Sends one entry. If it cannot be read, returns false with the reason in `trouble`, and the
// receiver drops it, too.
bool send_entry(const Link& link, const Source& source, std::string& trouble);
// Tells the receiver that no entry follows.
void send_end(const Link& link);

struct ReceiveOptions {
    std::string target;  // a directory, or with whole_name the path of the item itself
    bool whole_name = false;
    bool keep_existing = false;  // -i: existing files are kept
    std::string suffix;          // added to the first part of each name (mcpgath -a)
};

// Receives entries until the end. Returns the errors in words.
std::vector<std::string> receive_entries(const Link& link, const ReceiveOptions& options);

}  // namespace poe::copy
