#pragma once

// The GoogleTest part of Terrarium: a fixture with a control plane in it, and matchers. Link
// Terrarium::GTest.

#include "testbed/embedding/gtest/matchers.h"
#include "testbed/embedding/gtest/testbed_test.h"
