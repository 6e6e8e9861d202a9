#include "controllers/replicaset/replicaset_controller.h"
