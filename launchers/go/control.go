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

// ControlPlane is what a test can do to one cluster: the control API, docs/control-api.md.
type ControlPlane struct {
	URL        string // for clients that take no kubeconfig
	Kubeconfig string // a file
}

// Error is a refusal of the control API.
type Error struct {
	Code    int
	Reason  string
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("terrarium: %s (%d %s)", e.Message, e.Code, e.Reason)
}

// Clock is what the cluster's clock shows.
type Clock struct {
	Mode      string
	Now       time.Time
	Idle      bool
	NextTimer time.Time // zero: none
}

// Move is what came of a move of the clock.
type Move struct {
	Outcome     string // done, idle, deadline, no-timer, stopped, busy
	Now         time.Time
	Advanced    string // like 1h0m30s
	TimersFired int
	Revision    int64 // of RunUntil: since when the condition has held
}

// Object names one object: its plural, namespace ("" where a kind has none) and name.
type Object struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Rule says how pods behave that do not say it themselves: docs/pod-scripts.md.
type Rule struct {
	Name      string         `json:"name"`
	Namespace string         `json:"namespace,omitempty"`
	Selector  string         `json:"selector,omitempty"`
	Script    map[string]any `json:"script"`
}

// Why is a record of something that a controller did.
type Why struct {
	Time                      time.Time
	Revision                  int64
	Controller, Action        string
	Resource, Namespace, Name string
	Owner                     *Object
	Rule                      string
	Saw                       map[string]any
}

// Call sends one request to the control API: path below /terrarium/v1, body and answer as JSON, both may be nil.
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
func (p *ControlPlane) Clock() (clock Clock, err error) { return clock, p.Call("GET", "/clock", nil, &clock) }

// SetClock sets its mode: real, scaled=N, virtual or auto.
func (p *ControlPlane) SetClock(mode string) error {
	return p.Call("PUT", "/clock", map[string]string{"mode": mode}, nil)
}

// Advance moves a virtual clock forward, timer by timer, and returns when everything that came of them is done.
func (p *ControlPlane) Advance(by time.Duration) (Move, error) {
	return p.move("/clock/advance", map[string]string{"duration": by.String()}, "done")
}

// Settle waits until everything that is due now is done.
func (p *ControlPlane) Settle() (Move, error) { return p.Advance(0) }

// RunUntilIdle goes on until nothing is left to do but housekeeping. An error says that it took longer than limit.
func (p *ControlPlane) RunUntilIdle(limit time.Duration) (Move, error) {
	return p.move("/clock/run-until-idle", map[string]string{"limit": limit.String()}, "idle")
}

// RunUntil goes on until a condition on an object holds, said as to `kubectl wait --for`: create, delete,
// condition=Ready, jsonpath={.status.phase}=Running. An error says that it took longer than limit.
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

// AddRule makes a rule for pods; DeleteRule ends it.
func (p *ControlPlane) AddRule(rule Rule) error { return p.Call("POST", "/pods/rules", rule, nil) }

func (p *ControlPlane) DeleteRule(name string) error {
	return p.Call("DELETE", "/pods/rules/"+url.PathEscape(name), nil, nil)
}

// HoldPod keeps a pod from passing a point: ready or terminating.
func (p *ControlPlane) HoldPod(namespace, name, point string) error {
	return p.order("hold", namespace, name, map[string]any{"point": point})
}

// ReleasePod lets it pass all points at which it is held.
func (p *ControlPlane) ReleasePod(namespace, name string) error {
	return p.order("release", namespace, name, nil)
}

// CrashContainer ends a container of a pod; the pod's restart policy says what comes of it.
func (p *ControlPlane) CrashContainer(namespace, pod, container string, exitCode int) error {
	return p.order("crash", namespace, pod, map[string]any{"container": container, "exitCode": exitCode})
}

// FailPod ends a pod as Failed.
func (p *ControlPlane) FailPod(namespace, name string, exitCode int) error {
	return p.order("fail", namespace, name, map[string]any{"exitCode": exitCode})
}

// EvictPod ends a pod as a node under pressure does.
func (p *ControlPlane) EvictPod(namespace, name string) error { return p.order("evict", namespace, name, nil) }

func (p *ControlPlane) order(what, namespace, pod string, more map[string]any) error {
	body := map[string]any{"namespace": namespace, "pod": pod}
	for name, value := range more {
		body[name] = value
	}
	return p.Call("POST", "/pods/"+what, body, nil)
}

// FailNode takes a node away; RecoverNode brings it back.
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

// SetFeatureGates changes some of them, for which the component restarts.
func (p *ControlPlane) SetFeatureGates(component string, gates map[string]bool) error {
	return p.Call("PUT", "/components/"+component+"/feature-gates", gates, nil)
}

// StopComponent, StartComponent, RestartComponent and CrashComponent do that to one component.
func (p *ControlPlane) StopComponent(name string) error    { return p.component(name, "stop") }
func (p *ControlPlane) StartComponent(name string) error   { return p.component(name, "start") }
func (p *ControlPlane) RestartComponent(name string) error { return p.component(name, "restart") }
func (p *ControlPlane) CrashComponent(name string) error   { return p.component(name, "crash") }

func (p *ControlPlane) component(name, what string) error {
	return p.Call("POST", "/components/"+name+"/"+what, nil, nil)
}

// Why tells what the controllers did to an object and on its behalf, and by which rule; to all for a zero Object.
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

// Compact forgets the history, so that older revisions are answered with 410.
func (p *ControlPlane) Compact() error { return p.Call("POST", "/store/compact", nil, nil) }
