// What the generated files of entry points include.
#pragma once

#include <mpi.h>

#include "mpi/api/bodies.hpp"
#include "mpi/api/call.hpp"
#include "mpi/api/checks.hpp"
#include "mpi/api/counts.hpp"
#include "mpi/api/quick_calls.hpp"
#include "mpi/table/functions.hpp"
