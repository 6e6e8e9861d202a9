#include "controllers/deployment/deployment_controller.h"
