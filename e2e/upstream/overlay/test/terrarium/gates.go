package terrarium

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// loadGates reads the server's gates and sets those that the test has changed before it started the server. A listed test
// that has changed one that the server lacks ends here: it may pass otherwise, if it expects what it sends to be refused.
func (s *Server) loadGates() error {
	if err := s.call(http.MethodGet, "/components/apiserver/feature-gates", nil, &s.gates); err != nil {
		return err
	}
	if err := s.pushGates(); err != nil {
		return err
	}
	if own, _ := isListed(s.test); own && len(s.missing) > 0 {
		return fmt.Errorf("the test needs a server with the feature gates %v", slices.Collect(maps.Keys(s.missing)))
	}
	return nil
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
	if s.missing[gate] {
		return
	}
	s.missing[gate] = true
	if own, subtest := isListed(s.test); own || subtest {
		return
	}
	Problemf("%s: the test sets the gate %s to %v, which Terrarium lacks", s.test, gate, value)
}

// isListed reports whether TERRARIUM_LISTED, a JSON list of names, has the test or one of its parents (own), and whether it
// has one of its subtests: a server that a test starts also serves these.
func isListed(test string) (own, subtest bool) {
	var names []string
	if err := json.Unmarshal([]byte(os.Getenv("TERRARIUM_LISTED")), &names); err != nil {
		Problemf("TERRARIUM_LISTED: %v", err)
	}
	for _, name := range names {
		own = own || name == test || strings.HasPrefix(test, name+"/")
		subtest = subtest || strings.HasPrefix(name, test+"/")
	}
	return own, subtest
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
