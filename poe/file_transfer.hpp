// Files on their way from task to task: what mcp, mcpscat and mcpgath have in common. A tree
// becomes a row of entries, an entry a header, a name and blocks of at most kBlockBytes; how bytes
// get to the other side (to one task, to all) is a Link's business.
//
// A file appears under its name when all of it is there: it is written beside, under a name of its
// own, and renamed. What cannot be read or written is told on standard error, counted, and left
// out; the rest goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace poe::copy {

inline constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// Carries bytes to the other side in order; both sides know how many. They block, and end the
// program when the job is broken.
struct Link {
    std::function<void(const void*, std::size_t)> put;
    std::function<void(void*, std::size_t)> get;
};

// What is to be copied: where it is, and what it is called on the other side, relative to where
// things go there ("" for the thing itself).
struct Source {
    std::string path;
    std::string name;
};

// A file, or a directory with all below it, directories first. Adds to `troubles` what cannot be
// looked at and what is no file, directory or symbolic link.
std::vector<Source> expand_tree(const Source& root, std::vector<std::string>& troubles);

// The paths that a pattern of the shell means here (see glob(7)); itself when it means none.
std::vector<std::string> expand_pattern(const std::string& pattern);

// Sends one entry. False, with words in `trouble`, when it could not be read; the receiver then
// drops it, too.
bool send_entry(const Link& link, const Source& source, std::string& trouble);
// What tells the receiver that nothing more comes.
void send_end(const Link& link);

struct ReceiveOptions {
    std::string target;  // a directory, or with whole_name the path of the thing itself
    bool whole_name = false;
    bool keep_existing = false;  // -i: what is there already stays
    std::string suffix;          // added to the first part of each name (mcpgath -a)
};

// Receives entries until the end. Returns what went wrong, in words.
std::vector<std::string> receive_entries(const Link& link, const ReceiveOptions& options);

}  // namespace poe::copy
