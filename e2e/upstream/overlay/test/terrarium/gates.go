package terrarium

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

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

// changedGates returns the gates that have another value in this process than on the server, and reports those that a
// test has switched and the server lacks. REQUIRES: s.mu is held, or no other goroutine knows the server yet.
func (s *Server) changedGates() map[string]bool {
	changed := map[string]bool{}
	for gate, spec := range feature.DefaultMutableFeatureGate.GetAll() {
		value := feature.DefaultFeatureGate.Enabled(gate)
		if there, ok := s.gates[string(gate)]; !ok {
			if value != spec.Default {
				s.reportMissing(gate, value)
			}
		} else if there != value {
			changed[string(gate)] = value
		}
	}
	return changed
}

// reportMissing reports, once, that the server lacks the gate that a test has switched: the test would pass or fail for
// reasons that have nothing to do with the gate. A listed test is known not to pass, whatever it switches.
func (s *Server) reportMissing(gate featuregate.Feature, value bool) {
	if s.missing[gate] || isListed(s.test) {
		return
	}
	s.missing[gate] = true
	Problemf("%s: the test sets the gate %s to %v, which Terrarium lacks", s.test, gate, value)
}

// isListed reports whether the test, one of its parents or one of its subtests is in TERRARIUM_LISTED, a JSON list of
// names: a server that a test starts also serves its subtests.
func isListed(test string) bool {
	var names []string
	if err := json.Unmarshal([]byte(os.Getenv("TERRARIUM_LISTED")), &names); err != nil {
		Problemf("TERRARIUM_LISTED: %v", err)
	}
	for _, name := range names {
		if name == test || strings.HasPrefix(test, name+"/") || strings.HasPrefix(name, test+"/") {
			return true
		}
	}
	return false
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
