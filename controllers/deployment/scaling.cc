#include "controllers/deployment/internal/scaling.h"
