// Package framework has what the tests of the suites use to start servers and to make namespaces.
package framework

import (
	"context"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/test/terrarium"
)

// TearDownFunc stops a server.
type TearDownFunc func()

// TestServerSetup changes the options of a server before it starts.
type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
}

// DefaultTestServerFlags returns the flags that most tests give kube-apiserver.
func DefaultTestServerFlags() []string {
	return []string{"--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount"}
}

// SharedEtcd returns nothing: every server has a storage of its own.
func SharedEtcd() *terrarium.Storage { return nil }

// EtcdMain runs the tests of a package.
func EtcdMain(tests func() int) {
	code := tests()
	terrarium.StopStorage()
	os.Exit(code)
}

// StartTestServer starts a server, or fails the test.
func StartTestServer(
	_ context.Context, t testing.TB, setup TestServerSetup,
) (kubernetes.Interface, *rest.Config, TearDownFunc) {
	t.Helper()
	var chosen options.ServerRunOptions
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(&chosen)
	}
	flags := DefaultTestServerFlags()
	if file := chosen.Admission.GenericAdmission.ConfigFile; file != "" {
		flags = append(flags, "--admission-control-config-file="+file)
	}
	server, err := terrarium.Start(t, flags)
	if err != nil {
		t.Fatalf("no server: %v", err)
	}
	return kubernetes.NewForConfigOrDie(server.Config), rest.CopyConfig(server.Config), server.Stop
}

// CreateNamespaceOrDie makes a namespace of that name.
func CreateNamespaceOrDie(client kubernetes.Interface, name string, t testing.TB) *v1.Namespace {
	t.Helper()
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	created, err := client.CoreV1().Namespaces().Create(context.Background(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("no namespace %s: %v", name, err)
	}
	return created
}

// DeleteNamespaceOrDie asks for the deletion of a namespace.
func DeleteNamespaceOrDie(client kubernetes.Interface, namespace *v1.Namespace, t testing.TB) {
	t.Helper()
	err := client.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{})
	if err != nil {
		t.Fatalf("namespace %s cannot be deleted: %v", namespace.Name, err)
	}
}
