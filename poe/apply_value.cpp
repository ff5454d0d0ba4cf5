// One function for each group of the table, so that each fits a screen.
#include "poe/apply_value.hpp"

#include <algorithm>

#include "partition_manager/suggest.hpp"

namespace poe::cli {
namespace {

void apply_job(Options& options, OptionId id, const Value& value) {
    switch (id) {
        case OptionId::kProcs:
            options.procs = static_cast<TaskId>(value.number);
            break;
        case OptionId::kPgmmodel:
            options.program_model =
                value.text == "mpmd" ? ProgramModel::kMpmd : ProgramModel::kSpmd;
            break;
        case OptionId::kCmdfile:
            options.commands_file = value.text;
            break;
        case OptionId::kNewjob:
            options.newjob = value.yes();
            break;
        case OptionId::kNoarglist:
            options.noarglist = value.yes();
            break;
        case OptionId::kFence:
            options.fence = value.text;
            break;
        case OptionId::kDryRun:
            options.dry_run = true;
            break;
        default:
            break;
    }
}

void apply_nodes(Options& options, OptionId id, const Value& value) {
    switch (id) {
        case OptionId::kHostfile: {
            const bool none = value.text.empty() || pm::same_word(value.text, "null");
            options.host_file_use = none ? pm::HostFileUse::kNone : pm::HostFileUse::kGiven;
            options.host_file = none ? "" : value.text;
            break;
        }
        case OptionId::kSavehostfile:
            options.save_host_file = value.text;
            break;
        case OptionId::kResd:
            options.resource_manager = value.yes();
            break;
        case OptionId::kBatch:
            options.batch = true;
            break;
        case OptionId::kRmpool:
            options.pool = value.text;
            break;
        case OptionId::kPoolfile:
            options.pool_file = value.text;
            break;
        case OptionId::kNodes:
            options.nodes = static_cast<TaskId>(value.number);
            break;
        case OptionId::kTasksPerNode:
            options.tasks_per_node = static_cast<TaskId>(value.number);
            break;
        case OptionId::kRetry:
            options.retry_until_ready = !value.is_number;
            options.retry = std::chrono::seconds(value.number);
            break;
        case OptionId::kRetrycount:
            options.retry_count = static_cast<int>(value.number);
            break;
        case OptionId::kTimeout:
            options.timeout = std::chrono::seconds(value.number);
            break;
        case OptionId::kPulse:
            options.pulse = std::chrono::seconds(value.number);
            break;
        case OptionId::kPmd:
            options.pmd = value.text;
            break;
        case OptionId::kRemotedir:
            options.remote_directory_script = value.text;
            break;
        case OptionId::kRemoteShell:
            options.remote_shell = {value.text};  // still to be split
            break;
        case OptionId::kLaunchFanout:
            options.launch_fanout = static_cast<int>(value.number);
            break;
        case OptionId::kBind:
            options.bind = value.yes();
            break;
        case OptionId::kReportBinding:
            options.report_binding = value.yes();
            break;
        default:
            break;
    }
}

void apply_streams(Options& options, OptionId id, const Value& value) {
    using In = pm::StdinMode::Kind;
    using Out = pm::StdoutMode::Kind;
    switch (id) {
        case OptionId::kLabelio:
            options.labelio = value.yes();
            break;
        case OptionId::kLabelformat:
            options.label_format = value.text;
            break;
        case OptionId::kOutfile:
            options.outfile = value.text;
            break;
        case OptionId::kErrfile:
            options.errfile = value.text;
            break;
        case OptionId::kStdinmode:
            options.stdin_mode.kind = value.is_number        ? In::kOne
                                      : value.text == "none" ? In::kNone
                                                             : In::kAll;
            options.stdin_mode.task = static_cast<TaskId>(value.number);
            break;
        case OptionId::kStdoutmode:
            options.stdout_mode.kind = value.is_number           ? Out::kOne
                                       : value.text == "ordered" ? Out::kOrdered
                                       : value.text == "folded"  ? Out::kFolded
                                                                 : Out::kUnordered;
            options.stdout_mode.task = static_cast<TaskId>(value.number);
            break;
        case OptionId::kHoldStdin:
            options.hold_stdin = value.yes();
            break;
        case OptionId::kUnbuffered:
            options.unbuffering = value.text == "yes"  ? Unbuffering::kYes
                                  : value.text == "no" ? Unbuffering::kNo
                                                       : Unbuffering::kAuto;
            break;
        case OptionId::kPty:
            options.pty = value.yes();
            break;
        default:
            break;
    }
}

void apply_end(Options& options, OptionId id, const Value& value) {
    switch (id) {
        case OptionId::kInfolevel:
            options.infolevel = static_cast<int>(value.number);
            break;
        case OptionId::kReport:
            options.report = value.text;
            break;
        case OptionId::kMaxtime:
            options.maxtime.reset();
            if (value.number > 0) options.maxtime = std::chrono::seconds(value.number);
            break;
        case OptionId::kInterruptGrace:
            options.interrupt_grace = std::chrono::seconds(value.number);
            break;
        case OptionId::kDeadlockTimeout:
            options.deadlock_timeout = std::chrono::seconds(value.number);
            break;
        case OptionId::kKillGrace:
            options.kill_grace = std::chrono::milliseconds(value.number);
            break;
        case OptionId::kCoredir:
            options.core.prefix = value.text;
            break;
        case OptionId::kCorefileFormat:
            options.core.format = value.text;
            break;
        case OptionId::kCorefileSigterm:
            options.core.at_sigterm = value.yes();
            break;
        default:
            break;
    }
}

void apply_communication(Options& options, OptionId id, const Value& value) {
    switch (id) {
        case OptionId::kEuilib:
            options.euilib = value.text == "ip" ? Euilib::kIp : Euilib::kUs;
            break;
        case OptionId::kEuidevice:
            options.network_device = value.text;
            break;
        case OptionId::kWaitMode:
            options.wait_mode = value.text == "poll"    ? WaitMode::kPoll
                                : value.text == "yield" ? WaitMode::kYield
                                : value.text == "adaptive"
                                    ? WaitMode::kAdaptive
                                    : WaitMode::kSleep;  // sleep and its later name nopoll
            break;
        case OptionId::kBufferMem:
            options.buffer_mem = static_cast<Bytes>(value.number);
            break;
        case OptionId::kEagerLimit:
            // 0 would mean the default to the tasks. A message of one byte is sent at once anyway.
            options.eager_limit = std::max<Bytes>(1, static_cast<Bytes>(value.number));
            break;
        case OptionId::kSingleCopy:
            options.single_copy = value.yes();
            break;
        case OptionId::kPmix:
            options.pmix = value.text == "yes"  ? PmixMode::kYes
                           : value.text == "no" ? PmixMode::kNo
                                                : PmixMode::kAuto;
            break;
        default:
            break;
    }
}

void apply_displays(Options& options, OptionId id, const Value& value) {
    switch (id) {
        case OptionId::kPmarray:
            options.pmarray = value.yes();
            break;
        case OptionId::kProgress:
            options.progress = value.yes();
            break;
        case OptionId::kTracelevel:
            options.trace_level = value.text.front() - '0';
            break;
        case OptionId::kTracedir:
            options.trace_directory = value.text;
            break;
        case OptionId::kTracefile:
            options.trace_file = value.text;
            break;
        case OptionId::kTbuffsize:
            options.trace_buffer = static_cast<Bytes>(value.number);
            break;
        case OptionId::kTbuffwrap:
            options.trace_wraps = value.yes();
            break;
        case OptionId::kTtempsize:
            options.trace_most = static_cast<Bytes>(value.number);
            break;
        case OptionId::kTmpdir:
            options.trace_temporary = value.text;
            break;
        case OptionId::kSamplefreq:
            options.trace_sample = std::chrono::milliseconds(value.number);
            break;
        default:
            break;
    }
}

}  // namespace

void apply_value(Options& options, const OptionRow& row, const Value& value) {
    switch (row.group) {
        case OptionGroup::kJob:
            return apply_job(options, row.id, value);
        case OptionGroup::kNodes:
            return apply_nodes(options, row.id, value);
        case OptionGroup::kStreams:
            return apply_streams(options, row.id, value);
        case OptionGroup::kEnd:
            return apply_end(options, row.id, value);
        case OptionGroup::kCommunication:
            return apply_communication(options, row.id, value);
        case OptionGroup::kDisplays:
            return apply_displays(options, row.id, value);
        case OptionGroup::kPoe:
            return;
    }
}

}  // namespace poe::cli
