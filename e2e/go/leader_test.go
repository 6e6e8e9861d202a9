package e2e

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// candidate runs for the lease "leader"; leading is closed when it is elected, gone when it has stopped.
type candidate struct {
	leading, gone chan struct{}
	resign        context.CancelFunc
}

func run(t *testing.T, client kubernetes.Interface, ns, name string, releases bool) candidate {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := candidate{make(chan struct{}), make(chan struct{}), cancel}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: ns, Name: "leader"},
			Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: name}},
		LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond,
		ReleaseOnCancel: releases,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(c.leading) },
			OnStoppedLeading: func() {},
		},
	})
	must(t, err)
	go func() { elector.Run(ctx); close(c.gone) }()
	t.Cleanup(func() { cancel(); <-c.gone })
	return c
}

func isElected(t *testing.T, name string, c candidate) {
	t.Helper()
	select {
	case <-c.leading:
	case <-time.After(waitMax):
		t.Fatalf("%s was not elected", name)
	}
}

func TestLeadershipPassesOn(t *testing.T) {
	for name, releases := range map[string]bool{"released": true, "left to run out": false} {
		t.Run(name, func(t *testing.T) {
			client := clientset(t)
			ctx, ns := testContext(t), newNamespace(t, client)
			first := run(t, client, ns, "first", releases)
			isElected(t, "first", first)
			second := run(t, client, ns, "second", releases)

			lease, err := client.CoordinationV1().Leases(ns).Get(ctx, "leader", metav1.GetOptions{})
			must(t, err)
			renewed := lease.Spec.RenewTime.Time
			eventually(t, "the lease is renewed", func() bool {
				lease, err = client.CoordinationV1().Leases(ns).Get(ctx, "leader", metav1.GetOptions{})
				must(t, err)
				return lease.Spec.RenewTime.After(renewed)
			})
			if *lease.Spec.HolderIdentity != "first" {
				t.Fatalf("the holder is %s", *lease.Spec.HolderIdentity)
			}
			select {
			case <-second.leading:
				t.Fatal("two leaders")
			default:
			}

			first.resign()
			isElected(t, "second", second)
			lease, err = client.CoordinationV1().Leases(ns).Get(ctx, "leader", metav1.GetOptions{})
			must(t, err)
			if *lease.Spec.HolderIdentity != "second" || *lease.Spec.LeaseTransitions < 1 {
				t.Errorf("the lease: %+v", lease.Spec)
			}
		})
	}
}
