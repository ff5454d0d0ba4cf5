// Exports to OTF2, the format of Score-P, Vampir and Scalasca, with the OTF2 library.
#include <algorithm>
#include <filesystem>
#include <map>
#include <otf2/otf2.h>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "tracer/exchange/export.hpp"
#include "tracer/exchange/otf2_definitions.hpp"
#include "tracer/exchange/otf2_errors.hpp"

namespace poe::trace {
namespace {

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
    return OTF2_FLUSH;
}

OTF2_TimeStamp no_time(void*, OTF2_FileType, OTF2_LocationRef) {
    return 0;
}

const OTF2_FlushCallbacks kFlush{.otf2_pre_flush = flush_always, .otf2_post_flush = no_time};

// Returns the OTF2 operation that is most similar to a collective call.
OTF2_CollectiveOp operation_of(const std::string& name) {
    struct Like {
        std::string_view part;
        OTF2_CollectiveOp operation;
    };
    static constexpr std::array<Like, 11> kLike{{{"sync", OTF2_COLLECTIVE_OP_BARRIER},
                                                 {"barrier", OTF2_COLLECTIVE_OP_BARRIER},
                                                 {"bcast", OTF2_COLLECTIVE_OP_BCAST},
                                                 {"combine", OTF2_COLLECTIVE_OP_ALLREDUCE},
                                                 {"reduce", OTF2_COLLECTIVE_OP_REDUCE},
                                                 {"prefix", OTF2_COLLECTIVE_OP_SCAN},
                                                 {"concat", OTF2_COLLECTIVE_OP_ALLGATHER},
                                                 {"index", OTF2_COLLECTIVE_OP_ALLTOALL},
                                                 {"gather", OTF2_COLLECTIVE_OP_GATHER},
                                                 {"scatter", OTF2_COLLECTIVE_OP_SCATTER},
                                                 {"shift", OTF2_COLLECTIVE_OP_ALLTOALLV}}};
    for (const Like& like : kLike)
        if (name.find(like.part) != std::string::npos) return like.operation;
    return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

// The same for an operation whose call has a name that does not tell.
OTF2_CollectiveOp operation_of(DataFlow flow) {
    switch (flow) {
        case DataFlow::kBarrier:
        case DataFlow::kFence:
            return OTF2_COLLECTIVE_OP_BARRIER;
        case DataFlow::kAllToAll:
            return OTF2_COLLECTIVE_OP_ALLTOALL;
        case DataFlow::kOneToAll:
            return OTF2_COLLECTIVE_OP_BCAST;
        case DataFlow::kAllToOne:
            return OTF2_COLLECTIVE_OP_REDUCE;
        case DataFlow::kPrefix:
            return OTF2_COLLECTIVE_OP_SCAN;
        case DataFlow::kNone:
            break;
    }
    return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

// Returns the role of a region for readers of the archive.
OTF2_RegionRole role_of(const Region& region) {
    if (region.of_user) return OTF2_REGION_ROLE_CODE;
    if (region.state != State::kCollective) return OTF2_REGION_ROLE_POINT2POINT;
    switch (operation_of(region.name)) {
        case OTF2_COLLECTIVE_OP_BARRIER:
            return OTF2_REGION_ROLE_BARRIER;
        case OTF2_COLLECTIVE_OP_BCAST:
        case OTF2_COLLECTIVE_OP_SCATTER:
            return OTF2_REGION_ROLE_COLL_ONE2ALL;
        case OTF2_COLLECTIVE_OP_REDUCE:
        case OTF2_COLLECTIVE_OP_GATHER:
            return OTF2_REGION_ROLE_COLL_ALL2ONE;
        case OTF2_COLLECTIVE_OP_ALLREDUCE:
        case OTF2_COLLECTIVE_OP_ALLGATHER:
        case OTF2_COLLECTIVE_OP_ALLTOALL:
            return OTF2_REGION_ROLE_COLL_ALL2ALL;
        default:
            return OTF2_REGION_ROLE_COLL_OTHER;
    }
}

// Attributes: the place of a call; how many periods a sample stands for, if it is not one.
constexpr OTF2_AttributeRef kCallSite = 0;
constexpr OTF2_AttributeRef kSampleCount = 1;
// What samples are taken by: processor time, or elapsed time of a thread that sleeps.
constexpr OTF2_InterruptGeneratorRef kByProcessorTime = 0;
constexpr OTF2_InterruptGeneratorRef kByElapsedTime = 1;

class Otf2 : public ExportSink {
  public:
    explicit Otf2(std::string folder) : folder_(std::move(folder)) {
        keep_otf2_quiet();
        constexpr std::uint64_t kEventChunk = 1 << 20;
        constexpr std::uint64_t kDefinitionChunk = 1 << 22;
        if (std::filesystem::exists(folder_))
            throw Error("cannot write " + folder_ + ": it is there already");
        archive_ = OTF2_Archive_Open(folder_.c_str(), "trace", OTF2_FILEMODE_WRITE, kEventChunk,
                                     kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        if (archive_ == nullptr) throw Error("cannot write an archive in " + folder_);
        check(OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr));
        check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
        check(OTF2_Archive_SetCreator(archive_, "vt"));
        check(OTF2_Archive_OpenEvtFiles(archive_));
    }
    ~Otf2() override {
        OTF2_AttributeList_Delete(attributes_);
        if (archive_ != nullptr) OTF2_Archive_Close(archive_);
    }
    Otf2(const Otf2&) = delete;
    Otf2& operator=(const Otf2&) = delete;

    void begin(const TraceSource& source, const ExportRange& range) override {
        facts_ = source.facts();
        stretch_ = range.stretch;
        string("");
        // In one trace, OTF2 allows only one kind of events for calls: those with calling contexts,
        // which samples need, or those without.
        has_samples_ =
            std::any_of(source.streams().begin(), source.streams().end(),
                        [](const Stream& stream) { return stream.kind == StreamKind::kSamples; });
        for (TaskId task = 0; task < facts_.tasks; ++task)
            if (range.has(task))
                locations_[task].writer =
                    OTF2_Archive_GetEvtWriter(archive_, static_cast<OTF2_LocationRef>(task));
    }
    void enter(TaskId task, Time at, const Region& region, const Site& site) override {
        Location& on = locations_[task];
        const CodeLine& line = symbols_.line_of(site);
        // Writing the event clears the list.
        if (!line.file.empty() && line.line > 0)
            check(OTF2_AttributeList_AddSourceCodeLocationRef(attributes_, kCallSite,
                                                              line_number(line)));
        if (has_samples_) {
            const std::uint32_t above =
                on.open.empty() ? OTF2_UNDEFINED_CALLING_CONTEXT : on.open.back();
            on.open.push_back(context_of(above, region_of(region), line));
            check(OTF2_EvtWriter_CallingContextEnter(on.writer, attributes_, on.time(at),
                                                     on.open.back(), 2));
        } else {
            check(OTF2_EvtWriter_Enter(on.writer, attributes_, on.time(at), region_of(region)));
        }
        on.entered = region.name;
        ++on.events;
    }
    void leave(const Interval& interval, const Region& region) override {
        Location& on = locations_[interval.task];
        const std::uint64_t time = on.time(interval.to);
        if (interval.frame.collective != 0 && on.in_collective) {
            check(OTF2_EvtWriter_MpiCollectiveEnd(on.writer, nullptr, time,
                                                  operation_of(region.name), 0, on.root, on.bytes,
                                                  on.bytes));
            on.in_collective = false;
            ++on.events;
        }
        if (const auto ended = on.started.find(on.ending); ended != on.started.end()) {
            const Started& call = ended->second;
            check(OTF2_EvtWriter_NonBlockingCollectiveComplete(
                on.writer, nullptr, time, call.operation, 0, call.root, call.bytes, call.bytes,
                call.request));
            on.started.erase(ended);
            ++on.events;
        }
        on.ending = 0;
        if (has_samples_) {
            if (on.open.empty()) return;
            check(OTF2_EvtWriter_CallingContextLeave(on.writer, nullptr, time, on.open.back()));
            on.open.pop_back();
        } else {
            check(OTF2_EvtWriter_Leave(on.writer, nullptr, time, region_of(region)));
        }
        ++on.events;
    }
    void sample_period(Time period) override { period_ = period; }
    void call_path(std::uint32_t path, std::uint32_t caller, const Site& site) override {
        const std::uint32_t above =
            caller == 0 ? OTF2_UNDEFINED_CALLING_CONTEXT : context_of_path_[caller];
        const auto function = functions_.try_emplace(function_name(site, symbols_), next_region());
        context_of_path_.resize(path + 1, OTF2_UNDEFINED_CALLING_CONTEXT);
        context_of_path_[path] = context_of(above, function.first->second, symbols_.line_of(site));
    }
    // The samples of a thread have a location of their own, beside that of the task.
    void sample(TaskId task, Time at, const ExportedSample& sample) override {
        const std::uint32_t context = sample.path < context_of_path_.size()
                                          ? context_of_path_[sample.path]
                                          : OTF2_UNDEFINED_CALLING_CONTEXT;
        if (context == OTF2_UNDEFINED_CALLING_CONTEXT) return;
        const auto [known, is_new] =
            threads_.try_emplace({task, sample.thread}, facts_.tasks + threads_.size());
        Thread& thread = known->second;
        if (is_new) thread.on.writer = OTF2_Archive_GetEvtWriter(archive_, thread.location);
        if (sample.count > 1)
            check(OTF2_AttributeList_AddUint32(attributes_, kSampleCount, sample.count));
        check(
            OTF2_EvtWriter_CallingContextSample(thread.on.writer, attributes_, thread.on.time(at),
                                                context, unwind_distance(thread.last, context),
                                                sample.slept ? kByElapsedTime : kByProcessorTime));
        thread.last = context;
        ++thread.on.events;
    }
    void message(const Message&, std::uint64_t) override {}
    void message_end(TaskId task, Time at, const Event& event, Bytes bytes) override {
        if (class_of_message(event.record.detail) != kUserMessages ||
            event.record.a >= static_cast<std::uint32_t>(facts_.tasks))
            return;
        Location& on = locations_[task];
        const bool send = event.record.kind == Kind::kSend;
        check((send ? OTF2_EvtWriter_MpiSend : OTF2_EvtWriter_MpiRecv)(
            on.writer, nullptr, on.time(at), event.record.a, 0, high(event.record.b), bytes));
        ++on.events;
    }
    void collective(TaskId task, Time at, const Event& event, Bytes bytes) override {
        Location& on = locations_[task];
        const auto phase = phase_of_collective(event.record.detail);
        // Never 0, which means none.
        const std::uint64_t key = pair(high(event.record.b), event.record.extra) + 1;
        const std::uint32_t root =
            event.record.a == kNobody ? OTF2_COLLECTIVE_ROOT_NONE : event.record.a;
        if (phase == Phase::kEnds) {
            on.ending = key;
            return;
        }
        if (phase == Phase::kStarts) {
            const std::uint64_t request = ++on.requests;
            const DataFlow flow = flow_of_collective(event.record.detail);
            on.started[key] = {
                flow != DataFlow::kNone ? operation_of(flow) : operation_of(on.entered), root,
                bytes, request};
            check(OTF2_EvtWriter_NonBlockingCollectiveRequest(on.writer, nullptr, on.time(at),
                                                              request));
            ++on.events;
            return;
        }
        if (on.in_collective) return;
        check(OTF2_EvtWriter_MpiCollectiveBegin(on.writer, nullptr, on.time(at)));
        ++on.events;
        on.in_collective = true;
        on.root = root;
        on.bytes = bytes;
    }
    // OTF2 has no records for texts that a program sets.
    void marker(TaskId, Time, const std::string&) override {}
    void counter(TaskId task, Time at, const std::string& name, double value) override {
        Location& on = locations_[task];
        const auto metric =
            metrics_.try_emplace(name, static_cast<std::uint32_t>(metrics_.size())).first->second;
        const OTF2_Type type = OTF2_TYPE_DOUBLE;
        OTF2_MetricValue content;
        content.floating_point = value;
        check(OTF2_EvtWriter_Metric(on.writer, nullptr, on.time(at), metric, 1, &type, &content));
        ++on.events;
    }
    void end() override {
        for (auto& [task, on] : locations_) check(OTF2_Archive_CloseEvtWriter(archive_, on.writer));
        for (auto& [id, thread] : threads_)
            check(OTF2_Archive_CloseEvtWriter(archive_, thread.on.writer));
        check(OTF2_Archive_CloseEvtFiles(archive_));
        check(OTF2_Archive_OpenDefFiles(archive_));
        for (const auto& [task, on] : locations_)
            check(OTF2_Archive_CloseDefWriter(
                archive_,
                OTF2_Archive_GetDefWriter(archive_, static_cast<OTF2_LocationRef>(task))));
        for (const auto& [id, thread] : threads_)
            check(OTF2_Archive_CloseDefWriter(
                archive_, OTF2_Archive_GetDefWriter(archive_, thread.location)));
        check(OTF2_Archive_CloseDefFiles(archive_));
        definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
        define_places();
        define_names();
        define_samples();
        check(OTF2_Archive_CloseGlobalDefWriter(archive_, definitions_));
        const OTF2_ErrorCode closed = OTF2_Archive_Close(archive_);
        archive_ = nullptr;
        check(closed);
    }

  private:
    // A nonblocking collective call that has not ended.
    struct Started {
        OTF2_CollectiveOp operation = OTF2_COLLECTIVE_OP_BARRIER;
        std::uint32_t root = 0;
        Bytes bytes = 0;
        std::uint64_t request = 0;
    };
    struct Location {
        OTF2_EvtWriter* writer = nullptr;
        std::uint64_t last = 0;
        std::uint64_t events = 0;
        bool in_collective = false;
        std::uint32_t root = 0;
        Bytes bytes = 0;
        std::string entered;                       // the region entered last
        std::map<std::uint64_t, Started> started;  // by group and number
        std::uint64_t ending = 0;  // the operation that the current call ends; 0: none
        std::uint64_t requests = 0;
        std::vector<std::uint32_t> open;  // calling contexts of the calls that have not ended
        // OTF2 does not allow decreasing times.
        std::uint64_t time(Time at) {
            last = std::max(last, static_cast<std::uint64_t>(std::max(at, Time{0}).count()));
            return last;
        }
    };

    // The samples of a thread.
    struct Thread {
        explicit Thread(std::uint64_t number) : location(number) {}
        OTF2_LocationRef location;
        Location on{};
        std::uint32_t last = OTF2_UNDEFINED_CALLING_CONTEXT;
    };
    struct Context {
        std::uint32_t above = OTF2_UNDEFINED_CALLING_CONTEXT;
        std::uint32_t region = 0;
        std::uint32_t line = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
        auto operator<=>(const Context&) const = default;
    };

    void check(OTF2_ErrorCode code) const {
        if (code != OTF2_SUCCESS)
            throw Error("cannot write " + folder_ + ": " + OTF2_Error_GetDescription(code));
    }
    std::uint32_t line_number(const CodeLine& line) {
        return lines_.try_emplace({line.file, line.line}, static_cast<std::uint32_t>(lines_.size()))
            .first->second;
    }
    std::uint32_t string(const std::string& text) {
        return strings_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()))
            .first->second;
    }
    std::uint32_t region_of(const Region& region) {
        const auto [known, is_new] = regions_.try_emplace(region.name, next_region(), region);
        return known->second.first;
    }
    // Regions and functions of samples are numbered together.
    std::uint32_t next_region() const {
        return static_cast<std::uint32_t>(regions_.size() + functions_.size());
    }
    std::uint32_t context_of(std::uint32_t above, std::uint32_t region, const CodeLine& line) {
        Context context{above, region};
        if (!line.file.empty() && line.line > 0) context.line = line_number(line);
        const auto [known, is_new] =
            context_numbers_.try_emplace(context, static_cast<std::uint32_t>(contexts_.size()));
        if (is_new) contexts_.push_back(context);
        return known->second;
    }
    // How many contexts of `now`, from the innermost one on, were not in the stack before, and one
    // more.
    std::uint32_t unwind_distance(std::uint32_t before, std::uint32_t now) const {
        std::set<std::uint32_t> known;
        for (; before != OTF2_UNDEFINED_CALLING_CONTEXT; before = contexts_[before].above)
            known.insert(before);
        std::uint32_t fresh = 0;
        for (; now != OTF2_UNDEFINED_CALLING_CONTEXT && !known.contains(now);
             now = contexts_[now].above)
            ++fresh;
        return fresh + 1;
    }
    // Writes each string once, before any definition refers to it.
    std::uint32_t written(const std::string& text) {
        const std::uint32_t number = string(text);
        if (number >= strings_written_.size()) strings_written_.resize(number + 1);
        if (!strings_written_[number])
            check(OTF2_GlobalDefWriter_WriteString(definitions_, number, text.c_str()));
        strings_written_[number] = true;
        return number;
    }

    void define_places() {
        constexpr std::uint64_t kNanoseconds = 1'000'000'000;
        const auto from = static_cast<std::uint64_t>(std::max(stretch_.from, Time{0}).count());
        check(OTF2_GlobalDefWriter_WriteClockProperties(
            definitions_, kNanoseconds, from, static_cast<std::uint64_t>(stretch_.length().count()),
            OTF2_UNDEFINED_TIMESTAMP));
        check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
            definitions_, 0, written(facts_.job), written("job"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        for (std::uint32_t node = 0; node < facts_.nodes.size(); ++node)
            check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
                definitions_, node + 1, written(facts_.nodes[node]), written("node"), 0));
        std::vector<std::uint64_t> members, ranks;
        for (const auto& [task, on] : locations_) {
            const auto id = static_cast<std::uint32_t>(task);
            const auto node = static_cast<std::uint32_t>(facts_.node_of[id]);
            const std::uint32_t name = written(facts_.task_name(task));
            check(OTF2_GlobalDefWriter_WriteLocationGroup(
                definitions_, id, name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                node < facts_.nodes.size() ? node + 1 : 0, OTF2_UNDEFINED_LOCATION_GROUP));
            check(OTF2_GlobalDefWriter_WriteLocation(definitions_, id, name,
                                                     facts_.is_device(task)
                                                         ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM
                                                         : OTF2_LOCATION_TYPE_CPU_THREAD,
                                                     on.events, id));
        }
        for (const auto& [id, thread] : threads_) {
            check(OTF2_GlobalDefWriter_WriteLocation(
                definitions_, thread.location,
                written(fmt::format("stacks of thread {}", id.second)),
                OTF2_LOCATION_TYPE_CPU_THREAD, thread.on.events,
                static_cast<std::uint32_t>(id.first)));
            OTF2_AttributeValue value;
            value.uint32 = static_cast<std::uint32_t>(id.first);
            check(OTF2_GlobalDefWriter_WriteLocationProperty(
                definitions_, thread.location, written(kSamplesOfTask), OTF2_TYPE_UINT32, value));
        }
        // Ranks are tasks. A task that is not exported also has a rank.
        for (TaskId task = 0; task < facts_.tasks; ++task) {
            members.push_back(static_cast<std::uint64_t>(task));
            ranks.push_back(static_cast<std::uint64_t>(task));
        }
        const auto count = static_cast<std::uint32_t>(members.size());
        check(OTF2_GlobalDefWriter_WriteGroup(definitions_, 0, written("all"),
                                              OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                              OTF2_GROUP_FLAG_NONE, count, members.data()));
        check(OTF2_GlobalDefWriter_WriteGroup(definitions_, 1, written(""),
                                              OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                              OTF2_GROUP_FLAG_NONE, count, ranks.data()));
        check(OTF2_GlobalDefWriter_WriteComm(definitions_, 0, written("all tasks"), 1,
                                             OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }

    void define_names() {
        // Readers expect definitions of a kind in the order of their numbers.
        std::map<std::uint32_t, const Region*> by_number;
        std::map<std::uint32_t, const std::string*> functions;
        for (const auto& [name, numbered] : regions_) by_number[numbered.first] = &numbered.second;
        for (const auto& [name, number] : functions_) functions[number] = &name;
        for (std::uint32_t number = 0; number < next_region(); ++number) {
            const auto region = by_number.find(number);
            const bool called = region != by_number.end();
            const std::uint32_t name = written(called ? region->second->name : *functions[number]);
            check(OTF2_GlobalDefWriter_WriteRegion(
                definitions_, number, name, name, written(""),
                called ? role_of(*region->second) : OTF2_RegionRole{OTF2_REGION_ROLE_FUNCTION},
                !called                   ? OTF2_PARADIGM_SAMPLING
                : region->second->of_user ? OTF2_PARADIGM_USER
                                          : OTF2_PARADIGM_MPI,
                OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
        }
        if (!lines_.empty())
            check(OTF2_GlobalDefWriter_WriteAttribute(definitions_, kCallSite, written("call site"),
                                                      written("where the call comes from"),
                                                      OTF2_TYPE_SOURCE_CODE_LOCATION));
        std::map<std::uint32_t, const std::pair<std::string, int>*> lines;
        for (const auto& [line, number] : lines_) lines[number] = &line;
        for (const auto& [number, line] : lines)
            check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(
                definitions_, number, written(line->first),
                static_cast<std::uint32_t>(line->second)));
        std::vector<std::string> names(metrics_.size());
        for (const auto& [name, metric] : metrics_) names[metric] = name;
        for (std::uint32_t metric = 0; metric < names.size(); ++metric) {
            const std::string& name = names[metric];
            check(OTF2_GlobalDefWriter_WriteMetricMember(
                definitions_, metric, written(name), written(""), OTF2_METRIC_TYPE_USER,
                OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0, written("")));
            check(OTF2_GlobalDefWriter_WriteMetricClass(definitions_, metric, 1, &metric,
                                                        OTF2_METRIC_ASYNCHRONOUS,
                                                        OTF2_RECORDER_KIND_UNKNOWN));
        }
    }

    void define_samples() {
        if (!has_samples_) return;
        for (std::uint32_t number = 0; number < contexts_.size(); ++number)
            check(OTF2_GlobalDefWriter_WriteCallingContext(
                definitions_, number, contexts_[number].region, contexts_[number].line,
                contexts_[number].above));
        check(OTF2_GlobalDefWriter_WriteAttribute(definitions_, kSampleCount, written("samples"),
                                                  written("how many periods it stands for"),
                                                  OTF2_TYPE_UINT32));
        constexpr std::int64_t kNano = -9;
        const auto period = static_cast<std::uint64_t>(std::max(period_, Time{0}).count());
        for (const auto& [generator, name] :
             {std::pair(kByProcessorTime, "processor time of the thread"),
              std::pair(kByElapsedTime, "elapsed time while the thread sleeps")})
            check(OTF2_GlobalDefWriter_WriteInterruptGenerator(
                definitions_, generator, written(name), OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                OTF2_BASE_DECIMAL, kNano, period));
    }

    std::string folder_;
    OTF2_Archive* archive_ = nullptr;
    OTF2_GlobalDefWriter* definitions_ = nullptr;
    TraceFacts facts_;
    Stretch stretch_;
    std::map<TaskId, Location> locations_;
    std::map<std::string, std::uint32_t> strings_;
    std::vector<bool> strings_written_;
    std::map<std::string, std::pair<std::uint32_t, Region>> regions_;
    std::map<std::string, std::uint32_t> metrics_;
    std::map<std::pair<std::string, int>, std::uint32_t> lines_;
    bool has_samples_ = false;
    Time period_{0};
    std::map<std::string, std::uint32_t> functions_;  // of samples, by name: their regions
    std::vector<Context> contexts_;
    std::map<Context, std::uint32_t> context_numbers_;
    std::vector<std::uint32_t> context_of_path_;
    std::map<std::pair<TaskId, std::uint32_t>, Thread> threads_;
    OTF2_AttributeList* attributes_ = OTF2_AttributeList_New();
    Symbols symbols_;
};

}  // namespace

std::unique_ptr<ExportSink> otf2_sink(const std::string& folder) {
    return std::make_unique<Otf2>(folder);
}

}  // namespace poe::trace
