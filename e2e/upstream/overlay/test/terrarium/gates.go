package terrarium

import (
	"fmt"
	"net/http"

	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// loadGates reads the server's gates and sets those that the test has changed before it started the server.
func (s *Server) loadGates() error {
	if err := s.call(http.MethodGet, "/components/apiserver/feature-gates", nil, &s.gates); err != nil {
		return err
	}
	return s.pushGates()
}

// changedGates returns the gates that have another value in this process than on the server. A gate that only one of
// the two knows is left alone.
func (s *Server) changedGates() map[string]bool {
	known := feature.DefaultMutableFeatureGate.GetAll()
	changed := map[string]bool{}
	for name, value := range s.gates {
		gate := featuregate.Feature(name)
		if _, ok := known[gate]; ok && feature.DefaultFeatureGate.Enabled(gate) != value {
			changed[name] = !value
		}
	}
	return changed
}

// pushGates gives the server the values of this process. REQUIRES: the controller-manager is stopped; s.mu is held, or
// no other goroutine knows the server yet.
func (s *Server) pushGates() error {
	changed := s.changedGates()
	if len(changed) == 0 {
		return nil
	}
	components := []string{"apiserver"}
	if controllersOf(s.test) != "" {
		components = append(components, "controller-manager")
	}
	s.restarting.Lock()
	defer s.restarting.Unlock()
	for _, component := range components {
		if err := s.call(http.MethodPut, "/components/"+component+"/feature-gates", changed, nil); err != nil {
			return fmt.Errorf("gates of the %s: %w", component, err)
		}
	}
	for name, value := range changed {
		s.gates[name] = value
	}
	return nil
}
