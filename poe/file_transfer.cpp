// See file_transfer.hpp.
#include "poe/file_transfer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.hpp"

namespace poe::copy {

namespace {

namespace fs = std::filesystem;

enum class Kind : std::uint32_t { kEnd = 0, kFile = 1, kDirectory = 2, kLink = 3 };

// The layout is the same on all nodes of a job, because they run the same program.
struct Header {
    Kind kind = Kind::kEnd;
    std::uint32_t mode = 0;
    std::uint64_t size = 0;  // of a file, or of a symbolic link's target
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    std::uint64_t name_bytes = 0;
};

// A block of this size means that the file cannot be read further and must be dropped.
constexpr std::uint64_t kGivenUp = 0;

constexpr std::uint64_t kLongestName = 1 << 20;

std::string reason() {
    return std::strerror(errno);
}

void put_text(const Link& link, const std::string& text) {
    if (!text.empty()) link.put(text.data(), text.size());
}

std::string get_text(const Link& link, std::uint64_t bytes) {
    std::string text(std::min(bytes, kLongestName), '\0');
    if (!text.empty()) link.get(text.data(), text.size());
    return text;
}

// Reads up to `want` bytes, fewer only at the end of the file. Returns -1 with errno on errors.
ssize_t read_fully(int fd, char* into, std::size_t want) {
    std::size_t have = 0;
    while (have < want) {
        const ssize_t count = ::read(fd, into + have, want - have);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        have += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(have);
}

bool write_fully(int fd, const char* from, std::size_t size) {
    while (size > 0) {
        const ssize_t count = ::write(fd, from, size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        from += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

bool send_file(const Link& link, int fd, const Source& source, std::uint64_t size,
               std::string& trouble) {
    std::vector<char> block(std::min<std::uint64_t>(size, kBlockBytes));
    for (std::uint64_t left = size; left > 0;) {
        const ssize_t count =
            read_fully(fd, block.data(), std::min<std::uint64_t>(left, kBlockBytes));
        if (count <= 0) {
            trouble = source.path + ": " + (count < 0 ? reason() : "it became shorter meanwhile");
            link.put(&kGivenUp, sizeof kGivenUp);
            return false;
        }
        const auto bytes = static_cast<std::uint64_t>(count);
        link.put(&bytes, sizeof bytes);
        link.put(block.data(), bytes);
        left -= bytes;
    }
    return true;
}

// A file that is being written, under an unused name. The destructor removes it unless it is
// finished.
class NewFile {
  public:
    explicit NewFile(const std::string& path) : path_(path) {
        const fs::path whole = path;
        temporary_ = (whole.parent_path() / ("." + whole.filename().string() + ".XXXXXX")).string();
        fd_ = UniqueFd(::mkostemp(temporary_.data(), O_CLOEXEC));
        if (!fd_) fail();
    }
    ~NewFile() {
        if (fd_ && !finished_) ::unlink(temporary_.c_str());
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write(const char* data, std::size_t size) {
        if (trouble_.empty() && !write_fully(fd_.get(), data, size)) fail();
    }
    // Gives the file its name. Returns false if a file of this name exists and must be kept.
    bool finish(const Header& header, bool keep_existing) {
        if (!trouble_.empty()) return true;
        const std::array<timespec, 2> times{
            timespec{0, UTIME_OMIT},
            timespec{static_cast<time_t>(header.seconds), static_cast<long>(header.nanoseconds)}};
        if (::fchmod(fd_.get(), header.mode & 07777) != 0 ||
            ::futimens(fd_.get(), times.data()) != 0) {
            fail();
            return true;
        }
        const int result = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
                                       keep_existing ? RENAME_NOREPLACE : 0);
        if (result != 0 && keep_existing && errno == EEXIST) return false;
        if (result != 0) fail();
        finished_ = result == 0;
        return true;
    }
    // The first error in words; empty: none.
    const std::string& trouble() const { return trouble_; }

  private:
    void fail() { trouble_ = path_ + ": " + reason(); }

    std::string path_;
    std::string temporary_;
    std::string trouble_;
    UniqueFd fd_;
    bool finished_ = false;
};

// The file's blocks are taken from the link even if they cannot be written.
std::string receive_file(const Link& link, const std::string& path, const Header& header,
                         const ReceiveOptions& options) {
    NewFile file(path);
    std::vector<char> block(std::min<std::uint64_t>(header.size, kBlockBytes));
    for (std::uint64_t left = header.size; left > 0;) {
        std::uint64_t bytes = 0;
        link.get(&bytes, sizeof bytes);
        if (bytes == kGivenUp) return "";  // the sender reports the reason
        bytes = std::min<std::uint64_t>(bytes, std::min<std::uint64_t>(left, kBlockBytes));
        link.get(block.data(), bytes);
        file.write(block.data(), bytes);
        left -= bytes;
    }
    if (!file.finish(header, options.keep_existing)) return path + ": it is there and stays (-i)";
    return file.trouble();
}

std::string make_directory(const std::string& path, const Header& header) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) return path + ": " + error.message();
    // The owner must be able to create files in it.
    return ::chmod(path.c_str(), (header.mode & 07777) | S_IRWXU) == 0 ? ""
                                                                       : path + ": " + reason();
}

std::string make_link(const std::string& path, const std::string& text, bool keep_existing) {
    if (::symlink(text.c_str(), path.c_str()) == 0) return "";
    if (errno != EEXIST) return path + ": " + reason();
    if (keep_existing) return path + ": it is there and stays (-i)";
    const std::string beside = path + ".poe-" + std::to_string(::getpid());
    if (::symlink(text.c_str(), beside.c_str()) == 0 && ::rename(beside.c_str(), path.c_str()) == 0)
        return "";
    const std::string why = reason();
    ::unlink(beside.c_str());
    return path + ": " + why;
}

std::string place_of(const std::string& name, const ReceiveOptions& options) {
    if (options.whole_name) return name.empty() ? options.target : options.target + "/" + name;
    const std::size_t slash = name.find('/');
    const std::string first = name.substr(0, slash) + options.suffix;
    return options.target + "/" + (slash == std::string::npos ? first : first + name.substr(slash));
}

}  // namespace

std::vector<Source> expand_tree(const Source& root, std::vector<std::string>& troubles) {
    struct stat facts = {};
    if (::lstat(root.path.c_str(), &facts) != 0) {
        troubles.push_back(root.path + ": " + reason());
        return {};
    }
    if (S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode)) return {root};
    if (!S_ISDIR(facts.st_mode)) {
        troubles.push_back(root.path + ": it is neither a file nor a directory");
        return {};
    }
    std::vector<Source> all{root};
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(root.path, error), end; !error && entry != end;
         entry.increment(error))
        names.push_back(entry->path().filename().string());
    if (error) troubles.push_back(root.path + ": " + error.message());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
        const std::string below = root.name.empty() ? name : root.name + "/" + name;
        std::vector<Source> more = expand_tree({root.path + "/" + name, below}, troubles);
        all.insert(all.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
    }
    return all;
}

std::vector<std::string> expand_pattern(const std::string& pattern) {
    glob_t found = {};
    std::vector<std::string> paths;
    if (::glob(pattern.c_str(), GLOB_NOCHECK, nullptr, &found) == 0)
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    if (paths.empty()) paths.push_back(pattern);
    return paths;
}

bool send_entry(const Link& link, const Source& source, std::string& trouble) {
    struct stat facts = {};
    UniqueFd file;
    std::string text;
    Header header;
    header.name_bytes = source.name.size();
    if (::lstat(source.path.c_str(), &facts) != 0) {
        trouble = source.path + ": " + reason();
        return false;
    }
    if (S_ISREG(facts.st_mode)) {
        file = UniqueFd(::open(source.path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file || ::fstat(file.get(), &facts) != 0) {
            trouble = source.path + ": " + reason();
            return false;
        }
        header.kind = Kind::kFile;
        header.size = static_cast<std::uint64_t>(facts.st_size);
    } else if (S_ISLNK(facts.st_mode)) {
        std::error_code error;
        text = fs::read_symlink(source.path, error).string();
        header.kind = Kind::kLink;
        header.size = text.size();
    } else {
        header.kind = Kind::kDirectory;
    }
    header.mode = facts.st_mode;
    header.seconds = facts.st_mtim.tv_sec;
    header.nanoseconds = facts.st_mtim.tv_nsec;
    link.put(&header, sizeof header);
    put_text(link, source.name);
    put_text(link, text);
    return header.kind != Kind::kFile || send_file(link, file.get(), source, header.size, trouble);
}

void send_end(const Link& link) {
    const Header header;
    link.put(&header, sizeof header);
}

std::vector<std::string> receive_entries(const Link& link, const ReceiveOptions& options) {
    std::vector<std::string> troubles;
    while (true) {
        Header header;
        link.get(&header, sizeof header);
        if (header.kind == Kind::kEnd) return troubles;
        const std::string name = get_text(link, header.name_bytes);
        const std::string path = place_of(name, options);
        std::string trouble;
        if (header.kind == Kind::kFile)
            trouble = receive_file(link, path, header, options);
        else if (header.kind == Kind::kDirectory)
            trouble = make_directory(path, header);
        else
            trouble = make_link(path, get_text(link, header.size), options.keep_existing);
        if (!trouble.empty()) troubles.push_back(std::move(trouble));
    }
}

}  // namespace poe::copy
