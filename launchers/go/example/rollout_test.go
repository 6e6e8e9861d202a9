// Package example tests a Deployment's rollout with client-go, on a virtual clock.
package example

import (
	"context"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"terrarium.dev/launcher"
)

var server *terrarium.Server

func TestMain(m *testing.M) {
	os.Exit(terrarium.Main(m, terrarium.Options{}, &server))
}

// newCluster gives the test a cluster of its own and a client for it.
func newCluster(t *testing.T, options terrarium.ClusterOptions) (*terrarium.Cluster, kubernetes.Interface) {
	t.Helper()
	cluster := server.Cluster(t, options)
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return cluster, client
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "shop:1"}}},
			},
		},
	}
}

func TestARolloutWaitsForSlowPods(t *testing.T) {
	t.Parallel()
	cluster, client := newCluster(t, terrarium.ClusterOptions{PodDefaults: map[string]string{"ready-delay": "20s"}})
	shop := terrarium.Object{Resource: "deployments", Namespace: "default", Name: "shop"}
	ctx := context.Background()
	if _, err := client.AppsV1().Deployments("default").Create(ctx, deployment("shop", 3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	move, err := cluster.RunUntil(shop, "condition=Available", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if move.Advanced != "20s" {
		t.Errorf("available after %s, not when the pods were ready", move.Advanced)
	}
}

func TestAJobIsCleanedUpAnHourLater(t *testing.T) {
	t.Parallel()
	cluster, client := newCluster(t, terrarium.ClusterOptions{PodDefaults: map[string]string{"run-for": "5m"}})
	ctx := context.Background()
	jobs := client.BatchV1().Jobs("default")
	if _, err := jobs.Create(ctx, job("report", time.Hour), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// 65 minutes, in a few milliseconds.
	report := terrarium.Object{Resource: "jobs", Namespace: "default", Name: "report"}
	move, err := cluster.RunUntil(report, "delete", 2*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	advanced, err := time.ParseDuration(move.Advanced)
	if err != nil || advanced < 65*time.Minute || advanced > 66*time.Minute {
		t.Errorf("gone after %v", advanced)
	}
}
