// TraceGathering: poe's part of one trace of a job. Makes the directory in which its streams come
// together, takes those that daemons send, and knows when all are there. To make one file of them
// is another matter (tracer/read/merge.hpp).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "partition_manager/channel/messages.hpp"

namespace poe::pm {

// For the thread of the loop. Blocks on disks only.
class TraceGathering {
  public:
    // Makes the directory `trace.directory` and the job's stream in it. Throws Error.
    TraceGathering(const JobSpec& job, TraceSpec trace);
    ~TraceGathering();

    // Goes with the directory, unless keep() has been said.
    void keep() { keep_ = true; }
    bool kept() const { return keep_; }

    // Bytes of a stream. A disk that cannot take them is remembered, and the daemon keeps them.
    void on_frame(const Frame& frame);
    // A node has given all it has; what to answer it, if anything.
    std::optional<TraceTaken> on_done(NodeIndex node, const TraceDone& done);
    // It will not give any more.
    void on_lost(NodeIndex node);

    const TraceSpec& spec() const { return spec_; }
    bool complete() const { return open_nodes_ == 0; }
    // Where streams have stayed, in words, one each; they can be put to the others by hand.
    const std::vector<std::string>& left() const { return left_; }
    // What went wrong with poe's own disk; empty: nothing.
    const std::string& trouble() const { return trouble_; }

  private:
    std::size_t node_of(const Frame& frame) const;
    void append(const Frame& frame);

    const JobSpec& job_;
    TraceSpec spec_;
    std::vector<bool> done_;  // by node
    std::size_t open_nodes_;
    std::map<std::string, UniqueFd> files_;  // that are being written, by name
    std::vector<bool> spoiled_;              // by node: not all that it sent is here
    std::vector<std::string> left_;
    std::string trouble_;
    bool keep_ = false;
};

}  // namespace poe::pm
