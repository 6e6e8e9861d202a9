// Package storage gives tests the etcd below a kube-apiserver.
package storage

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"k8s.io/kubernetes/test/terrarium"
)

var errNoEtcd = errors.New("Terrarium has no etcd that a test could write to")

// absentEtcd fails every write.
type absentEtcd struct{ clientv3.KV }

func (absentEtcd) Put(context.Context, string, string, ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	return nil, errNoEtcd
}

// Of returns a client for a server's etcd and the prefix of its keys.
func Of(storage terrarium.Storage) (*clientv3.Client, string, error) {
	if storage.Endpoint == "" {
		client := clientv3.NewCtxClient(context.Background())
		client.KV = absentEtcd{}
		return client, "", nil
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{storage.Endpoint}})
	return client, storage.Prefix, err
}
