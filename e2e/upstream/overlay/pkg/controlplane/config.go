// Package controlplane has those parts of a kube-apiserver's configuration that tests change.
package controlplane

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Config is the configuration of one server.
type Config struct {
	ControlPlane struct{ Generic *GenericConfig }
}

// GenericConfig is what a test may set. The server is another process: framework.StartTestServer does there what comes
// nearest.
type GenericConfig struct {
	AdmissionControl admission.Interface
	Authorization    struct{ Authorizer authorizer.Authorizer }
}
