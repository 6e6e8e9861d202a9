// Compares Terrarium's codecs with those of Kubernetes itself, for every kind that our schema tables describe. The tool
// that TERRARIUM_CODEC_TOOL names (tests/api/codec_tool.cc) offers ours over a pipe; its documents are made up from the
// tables, so a field that a table lacks or gets wrong is detected without a test of its own.
package protobuf

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// tool is a running codec_tool.
type tool struct {
	t      *testing.T
	in     io.WriteCloser
	out    *bufio.Reader
	scheme *runtime.Scheme
	proto  *protobuf.Serializer
}

type answer struct {
	Kinds  []string        `json:"kinds"`
	Doc    json.RawMessage `json:"doc"`
	Strict []string        `json:"strict"`
	Bytes  []byte          `json:"bytes"`
	Text   string          `json:"text"`
	Error  string          `json:"error"`
}

func startTool(t *testing.T) *tool {
	path := os.Getenv("TERRARIUM_CODEC_TOOL")
	if path == "" {
		t.Fatal("TERRARIUM_CODEC_TOOL must name the codec_tool program")
	}
	command := exec.Command(path)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	must(t, err)
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		in.Close()
		command.Wait()
	})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionregistrationv1.AddToScheme, apidiscoveryv2.AddToScheme, appsv1.AddToScheme,
		authenticationv1.AddToScheme, authorizationv1.AddToScheme, autoscalingv1.AddToScheme,
		autoscalingv2.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme, coordinationv1.AddToScheme,
		corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme, flowcontrolv1.AddToScheme,
		networkingv1.AddToScheme, nodev1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme,
		resourcev1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme, metav1.AddMetaToScheme,
		metricsv1beta1.AddToScheme,
	} {
		must(t, add(scheme))
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Group: "meta.k8s.io", Version: "v1"})
	scheme.AddKnownTypes(schema.GroupVersion{Group: "meta.k8s.io", Version: "v1"}, &metav1.APIGroup{},
		&metav1.APIGroupList{}, &metav1.APIResourceList{}, &metav1.APIVersions{}, &metav1.Status{})
	return &tool{t, in, bufio.NewReaderSize(out, 1<<20), scheme, protobuf.NewSerializer(scheme, scheme)}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c *tool) ask(request map[string]any) answer {
	c.t.Helper()
	line, err := json.Marshal(request)
	must(c.t, err)
	_, err = c.in.Write(append(line, '\n'))
	must(c.t, err)
	reply, err := c.out.ReadBytes('\n')
	must(c.t, err)
	var a answer
	must(c.t, json.Unmarshal(reply, &a))
	return a
}

// kindOf finds the group, version and kind of a table by its name: io.k8s.api.apps.v1.Deployment is apps/v1 Deployment.
func (c *tool) kindOf(message string) schema.GroupVersionKind {
	parts := strings.Split(message, ".")
	kind, version, group := parts[len(parts)-1], parts[len(parts)-2], parts[len(parts)-3]
	for gvk := range c.scheme.AllKnownTypes() {
		first, _, _ := strings.Cut(gvk.Group, ".")
		if gvk.Group == "" {
			first = "core"
		}
		if gvk.Kind == kind && gvk.Version == version && first == group {
			return gvk
		}
	}
	c.t.Fatalf("Kubernetes has no type for %s", message)
	return schema.GroupVersionKind{}
}

func (c *tool) newObject(gvk schema.GroupVersionKind) runtime.Object {
	o, err := c.scheme.New(gvk)
	must(c.t, err)
	return o
}

// fill makes a document up and gives it its apiVersion and kind.
func (c *tool) fill(message string, gvk schema.GroupVersionKind, seed int, everything bool) map[string]any {
	var doc map[string]any
	must(c.t, unmarshal(c.ask(map[string]any{"op": "fill", "message": message, "seed": seed, "everything": everything}).Doc, &doc))
	doc["apiVersion"], doc["kind"] = gvk.GroupVersion().String(), gvk.Kind
	return doc
}

// unmarshal keeps the digits of numbers.
func unmarshal(data []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	return d.Decode(into)
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return unmarshal(a, &x) == nil && unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func toJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return text
}
