// Package terrarium starts a Terrarium server for a test suite. The server ends with the suite, even if that crashes.
//
//	func TestMain(m *testing.M) {
//		os.Exit(terrarium.Main(m, terrarium.Options{}, &server))
//	}
//
//	func TestRollout(t *testing.T) {
//		cluster := server.Cluster(t, terrarium.ClusterOptions{})
//		config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
//		...
//		move, err := cluster.Advance(30 * time.Second)
//	}
//
// One server serves a whole suite. Each test creates its own cluster on it, which takes milliseconds, and tests may run
// in parallel. The package needs only the standard library.
package terrarium

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	defaultStartTimeout = 30 * time.Second
	stopTimeout         = 20 * time.Second
	logTail             = 4000
)

// Options of a server. The zero value means a virtual clock and three nodes.
type Options struct {
	// Binary is the program to run; by default the one that the environment variable TERRARIUM names, or terrarium on
	// the PATH.
	Binary string
	// ClusterOptions are the options of the root cluster and the defaults of other clusters. Name is not used, and Data
	// applies to the root cluster only.
	ClusterOptions
	// Flags are further flags of `terrarium serve`.
	Flags []string
	// StartTimeout is the time within which the server must be ready; 30 s by default.
	StartTimeout time.Duration
}

// ClusterOptions are the settings of one cluster. Unset fields default to those of the server.
type ClusterOptions struct {
	Name                          string            `json:"name,omitempty"`  // chosen by the server by default
	Clock                         string            `json:"clock,omitempty"` // real, scaled=N, virtual, auto
	Seed                          *uint64           `json:"seed,omitempty"`
	Nodes                         *int              `json:"nodes,omitempty"`
	FeatureGates                  map[string]bool   `json:"featureGates,omitempty"`
	ControllerManagerFeatureGates map[string]bool   `json:"controllerManagerFeatureGates,omitempty"`
	KubeletFeatureGates           map[string]bool   `json:"kubeletFeatureGates,omitempty"`
	Controllers                   string            `json:"controllers,omitempty"`
	Kubelet                       *bool             `json:"kubelet,omitempty"`
	Scheduler                     *bool             `json:"scheduler,omitempty"`
	PodDefaults                   map[string]string `json:"podDefaults,omitempty"`
	EventTTL                      string            `json:"eventTtl,omitempty"` // "1h" by default
	EnableAdmissionPlugins        string            `json:"enableAdmissionPlugins,omitempty"`
	DisableAdmissionPlugins       string            `json:"disableAdmissionPlugins,omitempty"`
	Data                          string            `json:"data,omitempty"` // a SQLite file; a cluster's is below --cluster-data-dir
}

// Ptr returns a pointer to value, for options that are pointers.
func Ptr[T any](value T) *T { return &value }

// Server is a running server. Its ControlPlane is the root cluster.
type Server struct {
	ControlPlane
	Pid int

	folder  string
	process *exec.Cmd
	stdin   io.Closer
	exited  chan struct{} // closed when the process has ended
	stop    sync.Once
	stopErr error
}

// Cluster is a separate cluster of a server.
type Cluster struct {
	ControlPlane
	Name   string
	Seed   uint64
	server *Server
}

// Launch starts a server and waits until it is ready. The server ends with Stop, or when this process ends.
func Launch(options Options) (*Server, error) {
	binary, err := findBinary(options.Binary)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "terrarium-")
	if err != nil {
		return nil, err
	}
	server := &Server{folder: folder, exited: make(chan struct{})}
	if err := server.launch(binary, options); err != nil {
		server.kill()
		os.RemoveAll(folder)
		return nil, err
	}
	return server, nil
}

// Start launches a server for one test, or for a test and its subtests.
func Start(t testing.TB, options Options) *Server {
	t.Helper()
	server, err := Launch(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if log := server.Log(); t.Failed() && log != "" {
			t.Logf("the server's log:\n%s", log)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Main is the body of a TestMain: it launches the server, runs the tests and stops the server.
func Main(m *testing.M, options Options, server **Server) int {
	var err error
	if *server, err = Launch(options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := (*server).Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Cluster creates a cluster that is deleted at the end of the test.
func (s *Server) Cluster(t testing.TB, options ClusterOptions) *Cluster {
	t.Helper()
	cluster, err := s.NewCluster(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Delete(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

// NewCluster creates a cluster; Delete removes it.
func (s *Server) NewCluster(options ClusterOptions) (*Cluster, error) {
	var made struct {
		Name, URL, Kubeconfig string
		Seed                  uint64
	}
	if err := s.Call("POST", "/clusters", options, &made); err != nil {
		return nil, err
	}
	path := filepath.Join(s.folder, made.Name+".kubeconfig")
	if err := os.WriteFile(path, []byte(made.Kubeconfig), 0o600); err != nil {
		return nil, err
	}
	return &Cluster{ControlPlane: ControlPlane{URL: made.URL, Kubeconfig: path}, Name: made.Name, Seed: made.Seed, server: s}, nil
}

// Clusters lists the names of the clusters besides the root cluster.
func (s *Server) Clusters() ([]string, error) {
	var answer struct{ Clusters []struct{ Name string } }
	err := s.Call("GET", "/clusters", nil, &answer)
	names := []string{}
	for _, cluster := range answer.Clusters {
		names = append(names, cluster.Name)
	}
	return names, err
}

// Delete removes the cluster and its objects.
func (c *Cluster) Delete() error {
	os.Remove(c.Kubeconfig)
	return c.server.Call("DELETE", "/clusters/"+c.Name, nil, nil)
}

// Log returns the end of the server's standard error.
func (s *Server) Log() string {
	text, _ := os.ReadFile(filepath.Join(s.folder, "log"))
	return string(text[max(0, len(text)-logTail):])
}

// Stop ends the server. It returns an error if the server did not exit with 0 in time. Later calls return the same
// result.
func (s *Server) Stop() error {
	s.stop.Do(func() {
		s.stdin.Close()
		select {
		case <-s.exited:
			if code := s.process.ProcessState.ExitCode(); code != 0 {
				s.stopErr = fmt.Errorf("terrarium ended with %d instead of 0\n%s", code, s.Log())
			}
		case <-time.After(stopTimeout):
			s.stopErr = fmt.Errorf("terrarium still ran %v after it was stopped\n%s", stopTimeout, s.Log())
			s.kill()
		}
		os.RemoveAll(s.folder)
	})
	return s.stopErr
}

func (s *Server) kill() {
	if s.process != nil && s.process.Process != nil {
		s.process.Process.Kill()
		<-s.exited
	}
}

func findBinary(given string) (string, error) {
	for _, name := range []string{given, os.Getenv("TERRARIUM")} {
		if name == "" {
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("terrarium: %w", err)
		}
		return path, nil
	}
	path, err := exec.LookPath("terrarium")
	if err != nil {
		return "", errors.New("terrarium: no program of that name on the PATH; name it in TERRARIUM or Options.Binary")
	}
	return path, nil
}

func (s *Server) launch(binary string, options Options) error {
	ready := filepath.Join(s.folder, "ready")
	log, err := os.Create(filepath.Join(s.folder, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.process = exec.Command(binary, append([]string{"serve", "--port=0", "--ready-file=" + ready,
		"--kubeconfig=" + filepath.Join(s.folder, "kubeconfig"), "--exit-on-stdin-close"}, flagsOf(options)...)...)
	s.process.Stderr = log
	// The server ends when its standard input is closed: by Stop, or because this process has ended.
	if s.stdin, err = s.process.StdinPipe(); err != nil {
		return err
	}
	stdout, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("terrarium: %w", err)
	}
	// The server prints a line on standard output when it is ready, after it has written the ready file.
	printed := make(chan bool, 1)
	go func() {
		lines := bufio.NewReader(stdout)
		_, err := lines.ReadString('\n')
		printed <- err == nil
		io.Copy(io.Discard, lines)
		s.process.Wait()
		close(s.exited)
	}()
	timeout := options.StartTimeout
	if timeout == 0 {
		timeout = defaultStartTimeout
	}
	select {
	case isReady := <-printed:
		if !isReady {
			<-s.exited
			return fmt.Errorf("terrarium ended with %d before it was ready\n%s", s.process.ProcessState.ExitCode(), s.Log())
		}
	case <-time.After(timeout):
		return fmt.Errorf("terrarium was not ready after %v\n%s", timeout, s.Log())
	}
	text, err := os.ReadFile(ready)
	if err != nil {
		return err
	}
	var started struct {
		URL, Kubeconfig string
		Pid             int
	}
	if err := json.Unmarshal(text, &started); err != nil {
		return fmt.Errorf("%s: %w", ready, err)
	}
	s.ControlPlane = ControlPlane{URL: strings.TrimSuffix(started.URL, "/"), Kubeconfig: started.Kubeconfig}
	s.Pid = started.Pid
	return nil
}

func flagsOf(o Options) []string {
	clock := o.Clock
	if clock == "" {
		clock = "virtual"
	}
	flags := []string{"--clock=" + clock}
	add := func(name, value string) {
		if value != "" {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	if o.Seed != nil {
		add("seed", strconv.FormatUint(*o.Seed, 10))
	}
	if o.Nodes != nil {
		add("nodes", strconv.Itoa(*o.Nodes))
	}
	if o.Kubelet != nil {
		add("kubelet", strconv.FormatBool(*o.Kubelet))
	}
	if o.Scheduler != nil {
		add("scheduler", strconv.FormatBool(*o.Scheduler))
	}
	add("feature-gates", joined(o.FeatureGates))
	add("controller-manager-feature-gates", joined(o.ControllerManagerFeatureGates))
	add("kubelet-feature-gates", joined(o.KubeletFeatureGates))
	add("controllers", o.Controllers)
	add("pod-defaults", joined(o.PodDefaults))
	add("event-ttl", o.EventTTL)
	add("enable-admission-plugins", o.EnableAdmissionPlugins)
	add("disable-admission-plugins", o.DisableAdmissionPlugins)
	add("data", o.Data)
	return append(flags, o.Flags...)
}

func joined[V any](values map[string]V) string {
	items := []string{}
	for name, value := range values {
		items = append(items, fmt.Sprintf("%s=%v", name, value))
	}
	sort.Strings(items)
	return strings.Join(items, ",")
}
