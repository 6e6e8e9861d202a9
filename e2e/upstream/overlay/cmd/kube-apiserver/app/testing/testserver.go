// Package testing starts the server that a test asks for.
package testing

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"

	"k8s.io/kubernetes/test/terrarium"
	"k8s.io/kubernetes/test/terrarium/storage"
)

// TearDownFunc stops a server.
type TearDownFunc func()

// TestServerInstanceOptions are none of interest here: no test of the suites sets one.
type TestServerInstanceOptions struct{}

// TestServer is a running server.
type TestServer struct {
	ClientConfig      *rest.Config
	TearDownFn        TearDownFunc
	EtcdClient        *clientv3.Client
	EtcdStoragePrefix string
}

// NewDefaultTestServerOptions returns the options of a server that needs none.
func NewDefaultTestServerOptions() *TestServerInstanceOptions { return &TestServerInstanceOptions{} }

// StartTestServer starts a server; the storage is its own.
func StartTestServer(
	t testing.TB, _ *TestServerInstanceOptions, flags []string, _ *terrarium.Storage,
) (TestServer, error) {
	server, err := terrarium.Start(t, flags)
	if err != nil {
		return TestServer{}, err
	}
	client, prefix, err := storage.Of(server.Storage())
	if err != nil {
		server.Stop()
		return TestServer{}, err
	}
	stop := func() {
		client.Close()
		server.Stop()
	}
	return TestServer{
		ClientConfig: server.Config, TearDownFn: stop, EtcdClient: client, EtcdStoragePrefix: prefix,
	}, nil
}

// StartTestServerOrDie fails the test when the server does not start.
func StartTestServerOrDie(
	t testing.TB, options *TestServerInstanceOptions, flags []string, shared *terrarium.Storage,
) *TestServer {
	t.Helper()
	server, err := StartTestServer(t, options, flags, shared)
	if err != nil {
		t.Fatalf("no server: %v", err)
	}
	return &server
}
