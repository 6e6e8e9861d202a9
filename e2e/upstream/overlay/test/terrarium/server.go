// Package terrarium lets Kubernetes' integration tests run against Terrarium. It is compiled into the copy of the
// module that e2e/upstream prepares. Without TERRARIUM_BINARY in the environment it does nothing, and the tests run
// against the kube-apiserver and the controllers that are linked into them.
package terrarium

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
)

const (
	readyTimeout = 60 * time.Second
	stopTimeout  = 30 * time.Second
)

// TB is the part of testing.TB that Start needs.
type TB interface {
	Name() string
	Logf(format string, args ...any)
}

// Server is one process of a test's own: `terrarium serve`, or a kube-apiserver. Terrarium's controller-manager is
// stopped until the test runs one of the controllers.
type Server struct {
	Config *rest.Config

	url     string
	test    string
	folder  string
	process *exec.Cmd
	stdin   io.Closer
	exited  chan struct{}
	storage Storage

	mu        sync.Mutex
	gates     map[string]bool              // what the server's components have
	missing   map[featuregate.Feature]bool // gates that the test has switched and the server lacks
	active    map[string]context.Context   // of the controllers that the test runs, by name
	running   bool                         // whether the controller-manager runs
	gone      bool                         // whether Stop was called
	scraped   map[string]float64           // the counters at the last scrape, by series
	hasMirror bool                         // whether a goroutine scrapes them
	untainted bool                         // whether new nodes lose the taint of nodes that are not ready

	restarting sync.RWMutex // held for writing while components restart with other gates; taken after mu
}

var (
	serversMu sync.Mutex
	servers   = map[string]*Server{} // by host and port
	stopped   = map[string]bool{}    // addresses of servers that were there

	controlClient = &http.Client{Timeout: stopTimeout}
)

// Enabled reports whether the tests run against Terrarium.
func Enabled() bool { return os.Getenv("TERRARIUM_BINARY") != "" }

// Problemf reports a failure of the shim or of the server outside of what a test checks. run.py fails the test for it.
func Problemf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "UPSTREAM PROBLEM: "+format+"\n", args...)
}

// WithoutServiceAccounts is the flag that disables an admission plugin. In Terrarium the plugin is on where
// serviceaccount-controller runs, which is the suite that gives no such flag.
const WithoutServiceAccounts = "--disable-admission-plugins=ServiceAccount"

// acceptedFlags are the kube-apiserver flags that ask for nothing Terrarium lacks: it does not reconcile its own
// Endpoints, serves every version it knows, and always has a watch cache.
var acceptedFlags = []string{
	"--endpoint-reconciler-type=none",
	WithoutServiceAccounts,
	"--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection",
	WithoutNodeTaints,
	"--disable-admission-plugins=ServiceAccount," + nodeTaints,
	"--runtime-config=api/all=true",
	"--watch-cache=true",
	"--watch-cache=false",
}

// joinFlags returns the flags with their values, which may be arguments of their own.
func joinFlags(flags []string) []string {
	var joined []string
	for i := 0; i < len(flags); i++ {
		flag := flags[i]
		if !strings.Contains(flag, "=") && i+1 < len(flags) {
			i++
			flag += "=" + flags[i]
		}
		joined = append(joined, flag)
	}
	return joined
}

func checkFlags(flags []string) error {
	for _, flag := range flags {
		if !slices.Contains(acceptedFlags, flag) {
			return fmt.Errorf("the test needs a kube-apiserver with %s", flag)
		}
	}
	return nil
}

func disablesNodeTaints(flag string) bool {
	_, plugins, isList := strings.Cut(flag, "--disable-admission-plugins=")
	return isList && slices.Contains(strings.Split(plugins, ","), nodeTaints)
}

// Start starts a server for the test t, with the feature gates that the test has set. `flags` are those that the test
// gives kube-apiserver.
func Start(t TB, flags []string) (*Server, error) {
	begin := time.Now()
	folder, err := os.MkdirTemp("", "terrarium-upstream-")
	if err != nil {
		return nil, err
	}
	s := &Server{
		test: t.Name(), folder: folder, exited: make(chan struct{}),
		active: map[string]context.Context{}, scraped: map[string]float64{}, missing: map[featuregate.Feature]bool{},
	}
	if Enabled() {
		err = s.startTerrarium(flags)
	} else {
		err = s.startKubernetes(flags)
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	serversMu.Lock()
	servers[host(s.url)] = s
	serversMu.Unlock()
	t.Logf("the server is at %s after %v", s.url, time.Since(begin).Round(time.Millisecond))
	return s, nil
}

// run starts the process, which ends with its stdin if it is Terrarium.
func (s *Server) run(program string, arguments ...string) error {
	s.process = exec.Command(program, arguments...)
	s.process.Stdout, s.process.Stderr = os.Stderr, os.Stderr
	stdin, err := s.process.StdinPipe()
	if err != nil {
		return err
	}
	s.stdin = stdin
	if err := s.process.Start(); err != nil {
		return err
	}
	go func() {
		_ = s.process.Wait() // Stop looks at the exit code
		close(s.exited)
	}()
	return nil
}

// waitFor waits until `isThere`, and fails if the process ends first.
func (s *Server) waitFor(what string, isThere func() bool) error {
	for begin := time.Now(); !isThere(); time.Sleep(2 * time.Millisecond) {
		select {
		case <-s.exited:
			return fmt.Errorf("the server ended with %v before it was ready", s.process.ProcessState)
		default:
		}
		if time.Since(begin) > readyTimeout {
			return fmt.Errorf("no %s after %v", what, readyTimeout)
		}
	}
	return nil
}

func (s *Server) startTerrarium(flags []string) error {
	flags = joinFlags(flags)
	if err := checkFlags(flags); err != nil {
		return err
	}
	s.untainted = slices.ContainsFunc(flags, disablesNodeTaints)
	ready := filepath.Join(s.folder, "ready.json")
	controllers := controllersOf(s.test)
	if controllers == "" {
		controllers = "-*"
	}
	err := s.run(os.Getenv("TERRARIUM_BINARY"), "serve", "--port", "0", "--ready-file", ready,
		"--kubeconfig", filepath.Join(s.folder, "kubeconfig"), "--exit-on-stdin-close", "--nodes", "0",
		"--kubelet=false", "--scheduler=false", "--controllers="+controllers)
	if err != nil {
		return err
	}
	err = s.waitFor("ready file", func() bool {
		var parsed struct{ URL string }
		if data, err := os.ReadFile(ready); err == nil && json.Unmarshal(data, &parsed) == nil {
			s.url = strings.TrimSuffix(parsed.URL, "/")
		}
		return s.url != ""
	})
	if err != nil {
		return err
	}
	s.Config = &rest.Config{
		Host: s.url, QPS: 1000, Burst: 10000,
		ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
		WrapTransport: func(next http.RoundTripper) http.RoundTripper { return writeTransport{s, next} },
	}
	if controllers != "-*" { // otherwise there is no controller-manager
		if err := s.call(http.MethodPost, "/components/controller-manager/stop", nil, nil); err != nil {
			return err
		}
	}
	return s.loadGates()
}

// Stop ends the process. The first call counts.
func (s *Server) Stop() {
	s.mu.Lock()
	first := !s.gone
	s.gone = true
	s.mu.Unlock()
	if !first {
		return
	}
	serversMu.Lock()
	delete(servers, host(s.url))
	stopped[host(s.url)] = true
	serversMu.Unlock()
	defer os.RemoveAll(s.folder)
	if s.process == nil || s.process.Process == nil {
		return
	}
	s.stdin.Close()
	if !Enabled() {
		_ = s.process.Process.Kill() // a graceful end takes kube-apiserver a minute
		<-s.exited
		return
	}
	select {
	case <-s.exited:
	case <-time.After(stopTimeout):
		Problemf("%s: terrarium was still there %v after its stdin was closed", s.test, stopTimeout)
		_ = s.process.Process.Kill()
		<-s.exited
	}
	if code := s.process.ProcessState.ExitCode(); code != 0 {
		Problemf("%s: terrarium ended with %d", s.test, code)
	}
}

func host(url string) string {
	_, address, _ := strings.Cut(url, "://")
	return address
}

// serverOf returns the server that listens on `address`, or the only one if it is empty; nil if the test has stopped it.
func serverOf(address string) *Server {
	serversMu.Lock()
	defer serversMu.Unlock()
	if address != "" {
		if servers[address] == nil && !stopped[address] {
			Problemf("no server has listened on %q", address)
		}
		return servers[address]
	}
	var only *Server
	for _, only = range servers {
	}
	if len(servers) > 1 {
		Problemf("%d servers, and no client that says which is meant", len(servers))
	}
	return only
}

// call sends a request to the control API and decodes the response into `answer` unless that is nil.
func (s *Server) call(method, path string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		data = nil
	}
	request, err := http.NewRequest(method, s.url+"/terrarium/v1"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := controlClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
