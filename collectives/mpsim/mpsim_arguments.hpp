// The arguments of mpsim: what is simulated, and by which model. It is separate from
// mpsim_main.cpp, which runs the simulation. See mpsim(1).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collectives/mpsim/simulator.hpp"
#include "collectives/schedule/plan_file.hpp"
#include "collectives/selection/cost_model.hpp"

namespace poe::collectives {

struct SimulatorArguments {
    Operation operation = Operation::kBcast;
    std::optional<Choice> choice;
    Shape shape;
    std::map<std::string, double> numbers{
        {"-n", 16},     {"-m", 1024},  {"-root", 0},   {"-ts", 1},        {"-tc", 0.001},
        {"-lambda", 1}, {"-L", 5},     {"-o", 1},      {"-g", 1},         {"-G", 0.001},
        {"-tw", 0},     {"-tp", 0},    {"-nts", 0.05}, {"-ntc", 0.00005}, {"-cores", 0},
        {"-tt", 0},     {"-ports", 1}, {"-shuffle", 0}};
    std::string model = "linear";
    std::string nodes;     // NODES or NODESxRANKS; empty: each rank has its own
    std::string lengths;   // a file; empty: all blocks are equal
    std::string mesh;      // ROWSxCOLUMNS; empty: every two ranks have a link of their own
    SimulatedMesh placed;  // on the mesh
    bool turns = false;    // ranks are on the nodes in turn; otherwise in blocks
    bool one_node = false;
    std::vector<PlannedCall> planned;  // of the file of -plan
    bool has_plan = false;
    bool tree = false;
    std::string svg;

    MessageModel message_model() const;
    SimulatedNodes simulated_nodes() const;
    SimulatedCores simulated_cores() const;
};

// Reads the arguments, and the file of -lengths or -plan.
Result<SimulatorArguments> read_simulator_arguments(const std::vector<std::string>& words);

}  // namespace poe::collectives
