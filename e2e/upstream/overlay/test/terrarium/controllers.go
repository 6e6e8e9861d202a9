package terrarium

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
)

// restartWait is how long a controller waits for its predecessor's end: a test that restarts one cancels the context
// of the first and does not wait.
const restartWait = 10 * time.Second

// controllersOf returns the controllers that Terrarium runs for a test, separated by commas. TERRARIUM_CONTROLLERS is a
// JSON object: "" has those of the suite, a test's name those of that test.
func controllersOf(test string) string {
	var lists map[string]string
	if err := json.Unmarshal([]byte(os.Getenv("TERRARIUM_CONTROLLERS")), &lists); err != nil {
		Problemf("TERRARIUM_CONTROLLERS: %v", err)
	}
	top, _, _ := strings.Cut(test, "/")
	if list, ok := lists[top]; ok {
		return list
	}
	return lists[""]
}

// Replaces reports whether the suite's controllers of that name are Terrarium's, not Kubernetes' own.
func Replaces(controller string) bool {
	return Enabled() && slices.Contains(strings.Split(controllersOf(os.Getenv("TERRARIUM_TEST")), ","), controller)
}

// AwaitStop waits for a controller that is about to stop, since its context has ended. A test that starts the next one
// resets counters then, and the last counts of the old one must not come after that.
func AwaitStop(controller string) {
	if !Replaces(controller) {
		return
	}
	serversMu.Lock()
	all := slices.Collect(maps.Values(servers))
	serversMu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		if ctx := s.active[controller]; ctx != nil && ctx.Err() != nil {
			s.awaitRemoval(controller)
		}
		s.mu.Unlock()
	}
}

// Run takes the place of a controller's Run method: it runs Terrarium's controller of that name until ctx is done, and
// returns true. It returns false immediately if Kubernetes' own controller is to run.
//
// `client` leads to the server; with nil it is the only one there is. `speed` is how many times faster than usual the
// test wants the controller's periods, which it sets in Go variables: the server's clock runs that much faster.
func Run(ctx context.Context, client kubernetes.Interface, controller string, speed float64) bool {
	if !Replaces(controller) {
		return false
	}
	address := ""
	if client != nil {
		address = client.CoreV1().RESTClient().Get().URL().Host
	}
	if s := serverOf(address); s != nil && os.Getenv("TERRARIUM_NO_CONTROLLERS") == "" {
		s.add(ctx, controller, min(speed, maxSpeed()))
		defer s.remove(controller)
	}
	<-ctx.Done()
	return true
}

// maxSpeed is how much faster than the machine's a server's clock may be in this test.
func maxSpeed() float64 {
	text := os.Getenv("TERRARIUM_MAX_SPEED")
	if text == "" {
		return math.Inf(1)
	}
	speed, err := strconv.ParseFloat(text, 64)
	if err != nil {
		Problemf("TERRARIUM_MAX_SPEED: %v", err)
		return 1
	}
	return speed
}

// awaitRemoval waits until the test no longer runs the controller. REQUIRES: s.mu is held; it is released meanwhile.
func (s *Server) awaitRemoval(controller string) {
	for begin := time.Now(); s.active[controller] != nil && !s.gone; {
		if time.Since(begin) > restartWait {
			Problemf("%s: the %s runs twice", s.test, controller)
			return
		}
		s.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		s.mu.Lock()
	}
}

func (s *Server) add(ctx context.Context, controller string, speed float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaitRemoval(controller)
	s.active[controller] = ctx
	if s.gone || ctx.Err() != nil {
		return
	}
	if speed > 1 {
		mode := map[string]string{"mode": fmt.Sprintf("scaled=%d", int(math.Round(speed)))}
		if err := s.call(http.MethodPut, "/clock", mode, nil); err != nil {
			Problemf("%s: %v", s.test, err)
		}
	}
	if !s.running {
		if err := s.pushGates(); err != nil {
			Problemf("%s: %v", s.test, err)
		}
		s.startControllers()
		s.mirrorCounters()
	}
}

// remove stops the controller-manager when the last controller ends, or the Job controller: a test that restarts it
// lets the garbage collector beside it run on.
func (s *Server) remove(controller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.active, controller)
	if s.running && !s.gone && (len(s.active) == 0 || controller == "job-controller") {
		s.stopControllers()
	}
}

// REQUIRES: s.mu is held.
func (s *Server) startControllers() {
	if err := s.call(http.MethodPost, "/components/controller-manager/start", nil, nil); err != nil {
		Problemf("%s: %v", s.test, err)
	}
	s.running = true
}

// REQUIRES: s.mu is held.
func (s *Server) stopControllers() {
	s.scrape() // its counters end with the component
	clear(s.scraped)
	if err := s.call(http.MethodPost, "/components/controller-manager/stop", nil, nil); err != nil {
		Problemf("%s: %v", s.test, err)
	}
	s.running = false
}
