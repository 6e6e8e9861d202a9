package terrarium

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// ControlPlane is a client of the control API of one cluster: docs/control-api.md.
type ControlPlane struct {
	URL        string // for clients that take no kubeconfig
	Kubeconfig string // a file
}

// Error is an error response of the control API.
type Error struct {
	Code    int
	Reason  string
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("terrarium: %s (%d %s)", e.Message, e.Code, e.Reason)
}

// Clock is the state of the cluster's clock.
type Clock struct {
	Mode      string
	Now       time.Time
	Idle      bool
	NextTimer time.Time // zero: none
}

// Move is the outcome of a clock move.
type Move struct {
	Outcome     string // done, idle, deadline, no-timer, stopped, busy
	Now         time.Time
	Advanced    string // like 1h0m30s
	TimersFired int
	Revision    int64 // for RunUntil: the first revision at which the condition held
}

// Object names one object: its plural, namespace ("" for cluster-scoped kinds) and name.
type Object struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Rule is a script for pods without one of their own: docs/pod-scripts.md.
type Rule struct {
	Name      string         `json:"name"`
	Namespace string         `json:"namespace,omitempty"`
	Selector  string         `json:"selector,omitempty"`
	Script    map[string]any `json:"script"`
}

// Why is a record of a controller's action.
type Why struct {
	Time                      time.Time
	Revision                  int64
	Controller, Action        string
	Resource, Namespace, Name string
	Owner                     *Object
	Rule                      string
	Saw                       map[string]any
}

// Call sends one request to the control API. path is below /terrarium/v1; body and answer are JSON and may be nil.
func (p *ControlPlane) Call(method, path string, body, answer any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, p.URL+"/terrarium/v1"+path, sent)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		refusal := Error{Message: string(text)}
		json.Unmarshal(text, &refusal)
		refusal.Code = response.StatusCode
		return &refusal
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// Clock reads the clock.
func (p *ControlPlane) Clock() (clock Clock, err error) {
	return clock, p.Call("GET", "/clock", nil, &clock)
}

// SetClock sets its mode: real, scaled=N, virtual or auto.
func (p *ControlPlane) SetClock(mode string) error {
	return p.Call("PUT", "/clock", map[string]string{"mode": mode}, nil)
}

// Advance moves a virtual clock forward, timer by timer, and returns when all their consequences are processed.
func (p *ControlPlane) Advance(by time.Duration) (Move, error) {
	return p.move("/clock/advance", map[string]string{"duration": by.String()}, "done")
}

// Settle waits until all work that is due now is done.
func (p *ControlPlane) Settle() (Move, error) { return p.Advance(0) }

// RunUntilIdle moves the clock until only housekeeping is left. It returns an error if that takes longer than limit.
func (p *ControlPlane) RunUntilIdle(limit time.Duration) (Move, error) {
	return p.move("/clock/run-until-idle", map[string]string{"limit": limit.String()}, "idle")
}

// RunUntil moves the clock until a condition on an object holds, in the syntax of `kubectl wait --for`: create, delete,
// condition=Ready, jsonpath={.status.phase}=Running. It returns an error if that takes longer than limit.
func (p *ControlPlane) RunUntil(object Object, condition string, limit time.Duration) (Move, error) {
	body := struct {
		Object
		For   string `json:"for"`
		Limit string `json:"limit"`
	}{object, condition, limit.String()}
	move, err := p.move("/clock/run-until", body, "done")
	if err != nil {
		err = fmt.Errorf("%s %s/%s, %s: %w", object.Resource, object.Namespace, object.Name, condition, err)
	}
	return move, err
}

func (p *ControlPlane) move(path string, body any, wanted string) (move Move, err error) {
	if err := p.Call("POST", path, body, &move); err != nil {
		return move, err
	}
	if move.Outcome != wanted {
		return move, fmt.Errorf("terrarium: the clock stopped with %s after %s, at %s", move.Outcome, move.Advanced,
			move.Now.Format(time.RFC3339Nano))
	}
	return move, nil
}

// AddRule adds a rule for pods; DeleteRule removes it.
func (p *ControlPlane) AddRule(rule Rule) error { return p.Call("POST", "/pods/rules", rule, nil) }

func (p *ControlPlane) DeleteRule(name string) error {
	return p.Call("DELETE", "/pods/rules/"+url.PathEscape(name), nil, nil)
}

// HoldPod holds a pod at a point: ready or terminating.
func (p *ControlPlane) HoldPod(namespace, name, point string) error {
	return p.order("hold", namespace, name, map[string]any{"point": point})
}

// ReleasePod releases a pod from all points.
func (p *ControlPlane) ReleasePod(namespace, name string) error {
	return p.order("release", namespace, name, nil)
}

// CrashContainer ends a container of a pod; the pod's restart policy applies.
func (p *ControlPlane) CrashContainer(namespace, pod, container string, exitCode int) error {
	return p.order("crash", namespace, pod, map[string]any{"container": container, "exitCode": exitCode})
}

// FailPod ends a pod as Failed.
func (p *ControlPlane) FailPod(namespace, name string, exitCode int) error {
	return p.order("fail", namespace, name, map[string]any{"exitCode": exitCode})
}

// EvictPod evicts a pod as under node pressure.
func (p *ControlPlane) EvictPod(namespace, name string) error {
	return p.order("evict", namespace, name, nil)
}

func (p *ControlPlane) order(what, namespace, pod string, more map[string]any) error {
	body := map[string]any{"namespace": namespace, "pod": pod}
	for name, value := range more {
		body[name] = value
	}
	return p.Call("POST", "/pods/"+what, body, nil)
}

// FailNode makes a node fail; RecoverNode brings it back.
func (p *ControlPlane) FailNode(name string) error {
	return p.Call("POST", "/nodes/"+url.PathEscape(name)+"/fail", nil, nil)
}

func (p *ControlPlane) RecoverNode(name string) error {
	return p.Call("POST", "/nodes/"+url.PathEscape(name)+"/recover", nil, nil)
}

// FeatureGates of a component: apiserver, controller-manager, scheduler or kubelet.
func (p *ControlPlane) FeatureGates(component string) (gates map[string]bool, err error) {
	return gates, p.Call("GET", "/components/"+component+"/feature-gates", nil, &gates)
}

// SetFeatureGates changes some gates of a component and restarts it.
func (p *ControlPlane) SetFeatureGates(component string, gates map[string]bool) error {
	return p.Call("PUT", "/components/"+component+"/feature-gates", gates, nil)
}

// StopComponent, StartComponent, RestartComponent and CrashComponent change the state of one component.
func (p *ControlPlane) StopComponent(name string) error    { return p.component(name, "stop") }
func (p *ControlPlane) StartComponent(name string) error   { return p.component(name, "start") }
func (p *ControlPlane) RestartComponent(name string) error { return p.component(name, "restart") }
func (p *ControlPlane) CrashComponent(name string) error   { return p.component(name, "crash") }

func (p *ControlPlane) component(name, what string) error {
	return p.Call("POST", "/components/"+name+"/"+what, nil, nil)
}

// Why returns what the controllers did to an object or on its behalf, and why; for a zero Object all records.
func (p *ControlPlane) Why(object Object) ([]Why, error) {
	query := url.Values{}
	if object.Name != "" {
		query = url.Values{"resource": {object.Resource}, "name": {object.Name}}
		if object.Namespace != "" {
			query.Set("namespace", object.Namespace)
		}
	}
	path := "/why"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var answer struct{ Records []Why }
	err := p.Call("GET", path, nil, &answer)
	return answer.Records, err
}

// Compact drops the history, so that requests for older revisions get 410.
func (p *ControlPlane) Compact() error { return p.Call("POST", "/store/compact", nil, nil) }
