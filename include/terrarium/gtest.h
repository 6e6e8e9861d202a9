#pragma once

// The GoogleTest part of Terrarium: a fixture with a plane in it, and matchers. Link Terrarium::GTest.

#include "testbed/gtest/matchers.h"
#include "testbed/gtest/testbed_test.h"
