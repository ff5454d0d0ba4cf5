// The option table: every flag and MP_* variable that poe knows, one row each. Parsing, `poe -h`,
// the man page's table and the error texts all come from these rows, so that they cannot disagree.
// To add a flag: a name in OptionId, a row in option_table.cpp at the same place, and, when it is
// implemented, a line in apply_value.cpp that puts its value into Options.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace poe::cli {

// Names the rows, in their order.
enum class OptionId : unsigned char {
    // the job
    kProcs,
    kPgmmodel,
    kCmdfile,
    kNewjob,
    kNoarglist,
    kFence,
    kExport,
    kWorkingDirectory,
    kDryRun,
    // nodes
    kHostfile,
    kSavehostfile,
    kResd,
    kRmpool,
    kPoolfile,
    kBatch,
    kNodes,
    kTasksPerNode,
    kRetry,
    kRetrycount,
    kTimeout,
    kPulse,
    kRemotedir,
    kPmd,
    kRemoteShell,
    kLaunchFanout,
    kAdapterUse,
    kCpuUse,
    kBind,
    kReportBinding,
    // input and output
    kLabelio,
    kLabelformat,
    kOutfile,
    kErrfile,
    kStdinmode,
    kStdoutmode,
    kHoldStdin,
    kUnbuffered,
    kPty,
    // messages and the end of the job
    kInfolevel,
    kReport,
    kMaxtime,
    kKillGrace,
    kInterruptGrace,
    kDeadlockTimeout,
    kPmdlog,
    kCoredir,
    kCorefileFormat,
    kCorefileSigterm,
    kStatistics,
    kPrintenv,
    // communication
    kEuilib,
    kEuidevice,
    kEuilibpath,
    kWaitMode,
    kBufferMem,
    kEagerLimit,
    kSingleCopy,
    kPmix,
    kEuidevelop,
    kSharedMemory,
    kCssInterrupt,
    kIntrdelay,
    kPollingInterval,
    kUseFlowControl,
    kThreadStacksize,
    kSingleThread,
    kMaxTypedepth,
    // markers and traces
    kPmarray,
    kProgress,
    kPmlights,
    kUsrport,
    kTracelevel,
    kTracedir,
    kTracefile,
    kTbuffsize,
    kTbuffwrap,
    kTtempsize,
    kTmpdir,
    kSamplefreq,
    // poe itself
    kHelp,
    kVersion,
    kLater,  // not in the table: see later_options()
};
inline constexpr std::size_t kOptionCount = static_cast<std::size_t>(OptionId::kVersion) + 1;

enum class ValueKind : unsigned char {
    kNothing,       // a flag without a value
    kYesNo,         // yes or no
    kNumber,        // low..high; of seconds also as 10:00, 1m30s
    kNumberOrWord,  // the same, or one of `choices`
    kSize,          // bytes, low..high, with suffix k, m or g (powers of 1024)
    kChoice,        // one of `choices`
    kFile,          // a path, as it stands
    kString,        // any text, as it stands
};

enum class OptionGroup : unsigned char {
    kJob,
    kNodes,
    kStreams,
    kEnd,
    kCommunication,
    kDisplays,
    kPoe,
};
inline constexpr OptionGroup kLastGroup = OptionGroup::kPoe;

struct OptionRow {
    OptionId id;
    // Flag names without dashes, the main one first, blank-separated ("hostfile hfile"); empty:
    // none.
    std::string_view names;
    std::string_view variable;  // "MP_HOSTFILE"; empty: none
    ValueKind kind;
    std::string_view choices;  // words that are allowed, blank-separated; kString: that are special
    std::int64_t low;          // kNumber, kNumberOrWord, kSize
    std::int64_t high;
    std::string_view unit;           // what the number counts or the text is: "seconds", "file"
    std::string_view default_value;  // as the user would type it; empty: none
    std::string_view help;           // one line, at most 60 columns, no full stop
    OptionGroup group;
    bool implemented;
    bool before_program_only = false;  // after the program the word is the program's
    bool case_sensitive = false;       // kChoice: letter case matters
    // Names that other launchers use for the same; they are flags of poe only before the program.
    std::string_view early_names = "";
};

// All rows, in the order of OptionId.
std::span<const OptionRow, kOptionCount> option_table();

const OptionRow& option_row(OptionId id);

// Flags and variables of later versions of IBM's Parallel Environment that have no counterpart
// here. They are accepted, so that old scripts work, and have no effect.
std::span<const OptionRow> later_options();

// The row with this flag name (no dashes; main name or alias) or this variable; null when none.
const OptionRow* find_flag(std::string_view name);
// The same with the names that count only before the program.
const OptionRow* find_early_flag(std::string_view name);
const OptionRow* find_variable(std::string_view variable);

// Blank-separated words, one after another: `text` loses the first word, which is returned; empty
// at the end.
std::string_view next_word(std::string_view& text);

}  // namespace poe::cli
