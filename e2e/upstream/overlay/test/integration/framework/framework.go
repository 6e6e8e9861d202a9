// Package framework has what the tests of the suites use to start servers and to make namespaces.
package framework

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"

	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane"
	"k8s.io/kubernetes/test/terrarium"
)

// TearDownFunc stops a server.
type TearDownFunc func()

// TestServerSetup changes a server before it starts.
type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
	ModifyServerConfig     func(*controlplane.Config)
}

// podLimits has the limit of pods for new namespaces of a server that has one.
var podLimits sync.Map

// DefaultTestServerFlags returns the flags that most tests give kube-apiserver.
func DefaultTestServerFlags() []string {
	return []string{"--endpoint-reconciler-type=none", terrarium.WithoutServiceAccounts}
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
	chosen.ServiceAccountSigningKeyFile = signingKey(t)
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(&chosen)
	}
	config := controlplane.Config{}
	config.ControlPlane.Generic = &controlplane.GenericConfig{}
	if setup.ModifyServerConfig != nil {
		setup.ModifyServerConfig(&config)
	}
	plugin := config.ControlPlane.Generic.AdmissionControl
	server, err := terrarium.Start(t, flagsOf(&chosen, plugin))
	if err != nil {
		t.Fatalf("no server: %v", err)
	}
	client := kubernetes.NewForConfigOrDie(server.Config)
	if plugin != nil {
		limit, err := admittedPods(plugin)
		if err != nil {
			server.Stop()
			t.Fatal(err)
		}
		podLimits.Store(client, limit)
	}
	return client, rest.CopyConfig(server.Config), server.Stop
}

// flagsOf returns the flags that stand for a test's options. A plugin of the test's own replaces all others.
func flagsOf(chosen *options.ServerRunOptions, plugin admission.Interface) []string {
	flags := []string{"--endpoint-reconciler-type=none"}
	disabled := chosen.Admission.GenericAdmission.DisablePlugins
	if plugin != nil || slices.Contains(disabled, "ServiceAccount") {
		flags = append(flags, terrarium.WithoutServiceAccounts)
	}
	if slices.Contains(disabled, "TaintNodesByCondition") {
		flags = append(flags, terrarium.WithoutNodeTaints)
	}
	if file := chosen.Admission.GenericAdmission.ConfigFile; file != "" {
		flags = append(flags, "--admission-control-config-file="+file)
	}
	if socket := chosen.ServiceAccountSigningEndpoint; socket != "" {
		flags = append(flags, "--service-account-signing-endpoint="+socket)
	}
	return flags
}

// signingKey returns a file with a key for the tokens of ServiceAccounts.
func signingKey(t testing.TB) string {
	pem, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "signing-key.pem")
	if err := os.WriteFile(file, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// CreateNamespaceOrDie makes a namespace of that name.
func CreateNamespaceOrDie(client kubernetes.Interface, name string, t testing.TB) *v1.Namespace {
	t.Helper()
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	created, err := client.CoreV1().Namespaces().Create(context.Background(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("no namespace %s: %v", name, err)
	}
	if limit, ok := podLimits.Load(client); ok {
		if err := limitPods(client, name, limit.(int)); err != nil {
			t.Fatalf("no limit of pods in %s: %v", name, err)
		}
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
