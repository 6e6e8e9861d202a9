#include "controllers/deployment/internal/rollout.h"
