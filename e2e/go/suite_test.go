// Package e2e drives a running server with client-go and controller-runtime, as their users do.
//
// The server is a bare apiserver (TERRARIUM_URL, KUBECONFIG): the tests write statuses and delete pods in the place of
// controllers and kubelets. Every test has its own namespace.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	waitMax      = 20 * time.Second
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
)

// restConfig reads the kubeconfig that the server wrote, so that this file is tested as well.
func restConfig(t *testing.T) *rest.Config {
	t.Helper()
	c, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatalf("the server's kubeconfig: %v", err)
	}
	c.QPS = -1
	return c
}

func configWithType(t *testing.T, contentType string) *rest.Config {
	c := restConfig(t)
	c.ContentType = contentType
	c.AcceptContentTypes = contentType + "," + jsonType // what has no protobuf form comes as JSON
	return c
}

func newClientset(t *testing.T, c *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(c)
	must(t, err)
	return client
}

func clientset(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	return newClientset(t, configWithType(t, protobufType))
}

// testContext ends before the test does, so that the report names a hanging wait.
func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitMax)
	t.Cleanup(cancel)
	return ctx
}

func newNamespace(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	ns, err := client.CoreV1().Namespaces().Create(testContext(t),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "go-"}}, metav1.CreateOptions{})
	must(t, err)
	return ns.Name
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually polls for a condition that another goroutine or process brings about.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitMax); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain: %s", waitMax, what)
		}
	}
}

// receive takes the next value of a channel, or fails the test after a while.
func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v, open := <-from:
		if !open {
			t.Fatalf("closed while waiting for %s", what)
		}
		return v
	case <-time.After(waitMax):
		t.Fatalf("waited %v in vain: %s", waitMax, what)
		panic("unreachable")
	}
}

// compact drops the server's history before the current revision, so that older reads are 410.
func compact(t *testing.T) {
	t.Helper()
	resp, err := http.Post(os.Getenv("TERRARIUM_URL")+"/terrarium/v1/store/compact", jsonType, bytes.NewReader(nil))
	must(t, err)
	defer resp.Body.Close()
	var answer struct{ CompactedRevision int64 }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("compact: HTTP %d, %v", resp.StatusCode, err)
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/app:1"}}},
	}
}

func podOnNode(name, node string) *corev1.Pod {
	p := pod(name)
	p.Spec.NodeName = node
	return p
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod(name).Spec},
		},
	}
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func createConfigMaps(t *testing.T, client kubernetes.Interface, ns string, count int) {
	t.Helper()
	for i := range count {
		_, err := client.CoreV1().ConfigMaps(ns).Create(testContext(t), configMap(fmt.Sprintf("cm-%03d", i), nil),
			metav1.CreateOptions{})
		must(t, err)
	}
}

func wantContains(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}
}

// revision is a resourceVersion as the number that it is.
func revision(t *testing.T, resourceVersion string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(resourceVersion, 10, 64)
	must(t, err)
	return n
}
