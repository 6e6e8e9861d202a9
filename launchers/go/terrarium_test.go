package terrarium_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"terrarium.dev/launcher"
)

var server *terrarium.Server

func TestMain(m *testing.M) {
	if os.Getenv("LAUNCH_AND_WAIT") != "" {
		launchAndWait()
	}
	os.Exit(terrarium.Main(m, terrarium.Options{}, &server))
}

// launchAndWait runs in another process: it prints the pid of its server and waits to be killed.
func launchAndWait() {
	server, err := terrarium.Launch(terrarium.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(server.Pid)
	select {}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func moved(t *testing.T, wanted string) func(terrarium.Move, error) {
	t.Helper()
	return func(move terrarium.Move, err error) {
		t.Helper()
		must(t, err)
		if wanted != "" && move.Advanced != wanted {
			t.Errorf("the clock advanced by %s instead of %s", move.Advanced, wanted)
		}
	}
}

// send is a request to the kube API, which must succeed.
func send(t *testing.T, method, url string, body any) {
	t.Helper()
	var text []byte
	var err error
	if body != nil {
		text, err = json.Marshal(body)
		must(t, err)
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(text))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode > 299 {
		answer, _ := io.ReadAll(response.Body)
		t.Fatalf("%s %s: %s %s", method, url, response.Status, answer)
	}
}

func makePod(t *testing.T, cluster *terrarium.ControlPlane, name string, annotations map[string]string) terrarium.Object {
	t.Helper()
	pod := map[string]any{
		"metadata": map[string]any{"name": name, "annotations": annotations},
		"spec":     map[string]any{"containers": []any{map[string]string{"name": "c", "image": "i"}}},
	}
	send(t, "POST", cluster.URL+"/api/v1/namespaces/default/pods", pod)
	return terrarium.Object{Resource: "pods", Namespace: "default", Name: name}
}

func isGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func waitUntilGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !isGone(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
}

func TestAServerEndsWithItsTest(t *testing.T) {
	var pid int
	t.Run("inner", func(t *testing.T) {
		own := terrarium.Start(t, terrarium.Options{ClusterOptions: terrarium.ClusterOptions{
			Clock: "auto", Nodes: terrarium.Ptr(1), Seed: terrarium.Ptr(uint64(7)),
			FeatureGates: map[string]bool{"DownscalePodPicker": true, "JobManagedBy": false}}})
		pid = own.Pid
		clock, err := own.Clock()
		must(t, err)
		gates, err := own.FeatureGates("kubelet")
		must(t, err)
		if clock.Mode != "auto" || !gates["DownscalePodPicker"] || gates["JobManagedBy"] {
			t.Errorf("not as the options say: %v %v", clock, gates)
		}
		if text, err := os.ReadFile(own.Kubeconfig); err != nil || !strings.Contains(string(text), own.URL) {
			t.Errorf("kubeconfig: %v %s", err, text)
		}
	})
	if !isGone(pid) {
		t.Errorf("process %d is still there", pid)
	}
}

func TestAServerEndsWhenItsProcessIsKilled(t *testing.T) {
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "LAUNCH_AND_WAIT=1")
	other.Stderr = os.Stderr
	stdout, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	var pid int
	_, err = fmt.Fscan(stdout, &pid)
	must(t, err)
	if isGone(pid) {
		t.Fatal("it is not there")
	}
	must(t, other.Process.Kill())
	other.Wait()
	waitUntilGone(t, pid)
}

func TestAServerThatDoesNotStartReportsWhy(t *testing.T) {
	_, err := terrarium.Launch(terrarium.Options{Flags: []string{"--feature-gates=Bogus=true"}})
	wantError(t, err, "ended with 2 before it was ready", "--feature-gates", "Bogus")
	_, err = terrarium.Launch(terrarium.Options{Binary: "/nowhere/terrarium"})
	wantError(t, err, "/nowhere/terrarium")
	t.Setenv("TERRARIUM", "")
	t.Setenv("PATH", t.TempDir())
	_, err = terrarium.Launch(terrarium.Options{})
	wantError(t, err, "TERRARIUM", "Options.Binary")
}

func TestAServerThatTakesTooLongIsGivenUp(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "slow")
	must(t, os.WriteFile(slow, []byte("#!/bin/sh\necho thinking >&2\nexec cat\n"), 0o755))
	_, err := terrarium.Launch(terrarium.Options{Binary: slow, StartTimeout: 300 * time.Millisecond})
	wantError(t, err, "not ready after 300ms", "thinking")
}

func TestTheClockIsMoved(t *testing.T) {
	c := server.Cluster(t, terrarium.ClusterOptions{})
	web := makePod(t, &c.ControlPlane, "web", map[string]string{"terrarium.dev/start-delay": "40s"})
	moved(t, "40s")(c.RunUntil(web, "condition=Ready", time.Minute))
	moved(t, "")(c.RunUntilIdle(time.Hour))
	moved(t, "1h0m30s")(c.Advance(time.Hour + 30*time.Second))
	_, err := c.RunUntil(web, "delete", time.Minute)
	wantError(t, err, "pods default/web, delete", "deadline after 1m0s")
	must(t, c.SetClock("real"))
	_, err = c.Advance(time.Second)
	wantError(t, err, "400", "not virtual")
	var refusal *terrarium.Error
	if !errors.As(err, &refusal) || refusal.Code != 400 {
		t.Errorf("%#v", err)
	}
}

func TestPodsNodesAndRules(t *testing.T) {
	c := server.Cluster(t, terrarium.ClusterOptions{Nodes: terrarium.Ptr(1)})
	must(t, c.AddRule(terrarium.Rule{Name: "slow", Namespace: "default", Script: map[string]any{"start-delay": "10s"}}))
	web := makePod(t, &c.ControlPlane, "web", nil)
	moved(t, "10s")(c.RunUntil(web, "condition=Ready", time.Minute))
	must(t, c.DeleteRule("slow"))
	must(t, c.HoldPod("default", "web", "terminating"))
	send(t, "DELETE", c.URL+"/api/v1/namespaces/default/pods/web", nil)
	moved(t, "")(c.Advance(time.Hour))
	must(t, c.ReleasePod("default", "web"))
	moved(t, "")(c.RunUntil(web, "delete", time.Minute))

	moved(t, "")(c.RunUntil(makePod(t, &c.ControlPlane, "two", nil), "condition=Ready", time.Minute))
	must(t, c.CrashContainer("default", "two", "c", 3))
	two := terrarium.Object{Resource: "pods", Namespace: "default", Name: "two"}
	moved(t, "")(c.RunUntil(two, "jsonpath={.status.containerStatuses[0].restartCount}=1", time.Minute))
	must(t, c.FailPod("default", "two", 1))
	moved(t, "")(c.RunUntil(two, "jsonpath={.status.phase}=Failed", time.Minute))
	wantError(t, c.EvictPod("default", "two"), "409")

	must(t, c.FailNode("node-0"))
	node := terrarium.Object{Resource: "nodes", Name: "node-0"}
	moved(t, "")(c.RunUntil(node, "condition=Ready=Unknown", 5*time.Minute))
	must(t, c.RecoverNode("node-0"))
	moved(t, "")(c.RunUntil(node, "condition=Ready", 5*time.Minute))
	must(t, c.Compact())
}

func TestWhyReturnsWhatTheControllersDid(t *testing.T) {
	c := server.Cluster(t, terrarium.ClusterOptions{})
	labels := map[string]string{"app": "web"}
	set := map[string]any{
		"metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"replicas": 2, "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{"containers": []any{map[string]string{"name": "c", "image": "i"}}}}}}
	send(t, "POST", c.URL+"/apis/apps/v1/namespaces/default/replicasets", set)
	moved(t, "")(c.RunUntilIdle(time.Minute))
	records, err := c.Why(terrarium.Object{Resource: "replicasets", Namespace: "default", Name: "web"})
	must(t, err)
	if len(records) != 2 || records[0].Action != "create" || records[0].Resource != "pods" || records[0].Rule == "" {
		t.Errorf("%+v", records)
	}
	all, err := c.Why(terrarium.Object{})
	must(t, err)
	ofPods := 0
	for _, record := range all {
		if record.Resource == "pods" {
			ofPods++
		}
	}
	if ofPods != 2 || len(all) == 2 {
		t.Errorf("want two records of pods, and those of the namespaces' own objects: %+v", all)
	}
}

func TestEachTestHasItsOwnCluster(t *testing.T) {
	for _, name := range []string{"one", "two", "three"} {
		name := name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := server.Cluster(t, terrarium.ClusterOptions{Name: name, Nodes: terrarium.Ptr(1)})
			moved(t, "")(c.RunUntil(makePod(t, &c.ControlPlane, "web", nil), "condition=Ready", time.Minute))
			moved(t, "")(c.Advance(time.Hour))
			if _, err := server.NewCluster(terrarium.ClusterOptions{Name: name}); err == nil {
				t.Error("the name is taken")
			}
		})
	}
	t.Cleanup(func() {
		if names, err := server.Clusters(); err != nil || len(names) != 0 {
			t.Errorf("left: %v %v", names, err)
		}
	})
	_, err := server.NewCluster(terrarium.ClusterOptions{Name: "No such thing"})
	wantError(t, err, "400", "name")
}

func TestComponentsAreStoppedAndTheirGatesSwitched(t *testing.T) {
	c := server.Cluster(t, terrarium.ClusterOptions{})
	must(t, c.SetFeatureGates("controller-manager", map[string]bool{"PodDeletionCost": false}))
	gates, err := c.FeatureGates("controller-manager")
	must(t, err)
	if gates["PodDeletionCost"] {
		t.Error("the gate is still on")
	}
	must(t, c.StopComponent("scheduler"))
	web := makePod(t, &c.ControlPlane, "web", nil)
	_, err = c.RunUntil(web, "condition=Ready", time.Minute)
	wantError(t, err, "deadline")
	must(t, c.StartComponent("scheduler"))
	moved(t, "")(c.RunUntil(web, "condition=Ready", time.Minute))
	must(t, c.CrashComponent("kubelet"))
	must(t, c.StartComponent("kubelet"))
	must(t, c.RestartComponent("apiserver"))
}
