package terrarium

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/component-base/featuregate"
)

// Real Kubernetes, which shows that the tests pass there with the same binaries: one etcd for a test binary and a
// kube-apiserver for each server that a test starts, both from the environment (ETCD, KUBE_APISERVER). The controllers
// are those that are linked into the tests.

const (
	adminToken = "upstream"
	rbac       = "--authorization-mode=RBAC"
)

// Storage is where a kube-apiserver keeps its objects; empty for Terrarium.
type Storage struct{ Endpoint, Prefix string }

var etcd struct {
	sync.Mutex
	endpoint string
	folder   string
	process  *exec.Cmd
}

// Storage returns the server's storage.
func (s *Server) Storage() Storage { return s.storage }

// StopStorage ends the etcd, if one was started.
func StopStorage() {
	etcd.Lock()
	defer etcd.Unlock()
	if etcd.process != nil {
		_ = etcd.process.Process.Kill()
		_ = etcd.process.Wait()
		os.RemoveAll(etcd.folder)
	}
}

// HasCustomResources reports whether the server serves CustomResourceDefinitions.
func HasCustomResources(client discovery.DiscoveryInterface) bool {
	_, err := client.ServerResourcesForGroupVersion("apiextensions.k8s.io/v1")
	return err == nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func startEtcd() (string, error) {
	etcd.Lock()
	defer etcd.Unlock()
	if etcd.endpoint != "" {
		return etcd.endpoint, nil
	}
	folder, err := os.MkdirTemp("", "upstream-etcd-")
	if err != nil {
		return "", err
	}
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	url := "http://" + address
	etcd.folder = folder
	etcd.process = exec.Command(os.Getenv("ETCD"), "--data-dir", folder, "--listen-client-urls", url,
		"--advertise-client-urls", url, "--listen-peer-urls", "http://127.0.0.1:0", "--unsafe-no-fsync",
		"--log-level", "error")
	etcd.process.Stderr = os.Stderr
	if err := etcd.process.Start(); err != nil {
		etcd.process = nil
		return "", fmt.Errorf("etcd: %w", err)
	}
	etcd.endpoint = url
	return url, nil
}

// gateFlags are the gates that a test has set before it starts the server.
func gateFlags() string {
	var changed []string
	for name, spec := range feature.DefaultMutableFeatureGate.GetAll() {
		set := feature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
		if set != spec.Default && !spec.LockToDefault && !strings.HasPrefix(string(name), "All") {
			changed = append(changed, fmt.Sprintf("%s=%v", name, set))
		}
	}
	return strings.Join(changed, ",")
}

// startKubernetes starts a kube-apiserver with the flags that the test gives it.
func (s *Server) startKubernetes(flags []string) error {
	endpoint, err := startEtcd()
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	s.storage = Storage{Endpoint: endpoint, Prefix: filepath.Base(s.folder)}
	key, tokens := filepath.Join(s.folder, "key.pem"), filepath.Join(s.folder, "tokens.csv")
	pem, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	if err := os.WriteFile(key, pem, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(tokens, []byte(adminToken+",admin,admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	arguments := append([]string{
		"--etcd-servers", endpoint, "--etcd-prefix", s.storage.Prefix, "--secure-port", port,
		"--bind-address", "127.0.0.1", "--cert-dir", s.folder, "--token-auth-file", tokens,
		"--service-account-issuer", "https://upstream.test", "--service-account-key-file", key,
		"--service-account-signing-key-file", key, "--service-cluster-ip-range", "10.0.0.0/24",
		"--feature-gates", gateFlags(), "-v", "0",
	}, flags...)
	if !slices.Contains(flags, rbac) { // kube-apiserver refuses a mode that is named twice
		arguments = append(arguments, rbac)
	}
	s.url = "https://" + address
	if err := s.run(os.Getenv("KUBE_APISERVER"), arguments...); err != nil {
		return err
	}
	s.Config = &rest.Config{
		Host: s.url, QPS: 1000, Burst: 10000, BearerToken: adminToken,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		ContentConfig:   rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
	}
	client := kubernetes.NewForConfigOrDie(s.Config)
	return s.waitFor("/readyz", func() bool {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Timeout(time.Second).DoRaw(context.Background())
		return err == nil
	})
}
