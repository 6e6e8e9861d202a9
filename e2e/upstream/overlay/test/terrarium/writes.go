package terrarium

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"time"
)

// advance is how much earlier a write comes that TERRARIUM_FIRST names: long for a controller, short for a test.
// quietLimit bounds how long a test waits for the controllers' writes to end.
const (
	advance    = 500 * time.Millisecond
	quietLimit = 10 * time.Second
)

// writeTransport sends a test's writes, with what has to happen on the server around them.
type writeTransport struct {
	server *Server
	next   http.RoundTripper
}

// RoundTrip brings gates that a test switches to the server, with the test's next write.
//
// In Kubernetes a gate is a variable: switching it starts no reconcile. A controller-manager that starts reconciles
// every object. So it is stopped before that write and started after it: objects are reconciled with the new gates
// and the new state, as the test expects of a write that follows the switch.
func (w writeTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	s := w.server
	if request.Method == http.MethodGet {
		return w.send(request)
	}
	s.mu.Lock()
	if s.gone || len(s.changedGates()) == 0 {
		s.mu.Unlock()
		return w.inOrder(request)
	}
	defer s.mu.Unlock()
	restart := s.running
	if restart {
		s.stopControllers()
	}
	if err := s.pushGates(); err != nil {
		Problemf("%s: %v", s.test, err)
	}
	response, err := w.send(request)
	if restart {
		s.startControllers()
	}
	return response, err
}

// send waits while the apiserver restarts with other gates: a gate that is switched refuses no request in Kubernetes.
func (w writeTransport) send(request *http.Request) (*http.Response, error) {
	w.server.restarting.RLock()
	defer w.server.restarting.RUnlock()
	response, err := w.next.RoundTrip(request)
	if err == nil && createsNode(request, response) {
		w.server.removeTaints()
	}
	return response, err
}

// inOrder decides races that a test's success depends on. The test's next write follows a creation within milliseconds,
// and a controller here is faster than that; or a controller must have reacted to an update, which takes it milliseconds
// too.
func (w writeTransport) inOrder(request *http.Request) (*http.Response, error) {
	s := w.server
	first := os.Getenv("TERRARIUM_FIRST")
	switch {
	case first == "controller" && request.Method == http.MethodPut && !strings.Contains(request.URL.Path, "/pods/"):
		response, err := w.send(request)
		s.awaitQuiet()
		return response, err
	case first == "test" && request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/jobs"):
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.running {
			break
		}
		s.stopControllers()
		time.AfterFunc(advance, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if !s.gone && !s.running && len(s.active) > 0 {
				s.startControllers()
			}
		})
	}
	return w.send(request)
}

// awaitQuiet waits until nothing has been written for as long as `advance`.
func (s *Server) awaitQuiet() {
	last, since := "", time.Now()
	for begin := since; time.Since(since) < advance && time.Since(begin) < quietLimit; time.Sleep(10 * time.Millisecond) {
		response, err := controlClient.Get(s.url + "/api/v1/namespaces?limit=1")
		if err != nil {
			return
		}
		var list struct {
			Metadata struct{ ResourceVersion string }
		}
		err = json.NewDecoder(response.Body).Decode(&list)
		response.Body.Close()
		if err != nil {
			return
		}
		if list.Metadata.ResourceVersion != last {
			last, since = list.Metadata.ResourceVersion, time.Now()
		}
	}
}
