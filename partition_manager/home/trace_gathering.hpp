// TraceGathering: poe's part of one trace of a job. It creates the directory of the streams, stores
// the streams that daemons send, and knows when all have arrived. Merging them into one file is
// done elsewhere (tracer/read/merge.hpp).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// Call only from the event loop's thread. Blocks only on disk I/O.
class TraceGathering {
  public:
    // Creates the directory `trace.directory` and the job's stream in it. Throws Error. `job` must
    // outlive this object.
    TraceGathering(const JobSpec& job, TraceSpec trace);
    ~TraceGathering();

    // The destructor removes the directory unless keep() has been called.
    void keep() { keep_ = true; }
    bool kept() const { return keep_; }

    // Stores bytes of a stream. If they cannot be written, this is remembered, and the daemon keeps
    // the streams of that node.
    void on_frame(const Frame& frame);
    // A node has sent all its streams. Returns the answer to the node, if any.
    std::optional<TraceTaken> on_done(NodeIndex node, const TraceDone& done);
    // The node will send nothing more.
    void on_lost(NodeIndex node);

    const TraceSpec& spec() const { return spec_; }
    bool complete() const { return open_nodes_ == 0; }
    // Describes where streams were left, one text each. They can be added to the others by hand.
    const std::vector<std::string>& left() const { return left_; }
    // The error of poe's own disk; empty: none.
    const std::string& trouble() const { return trouble_; }

  private:
    std::size_t node_of(const Frame& frame) const;
    void append(const Frame& frame);

    const JobSpec& job_;
    TraceSpec spec_;
    std::vector<bool> done_;  // by node
    std::size_t open_nodes_;
    std::map<std::string, UniqueFd> files_;  // files being written, by name
    // By node: true if some data that it sent could not be stored.
    std::vector<bool> spoiled_;
    std::vector<std::string> left_;
    std::string trouble_;
    bool keep_ = false;
};

}  // namespace poe::pm
