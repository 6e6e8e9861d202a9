package terrarium

import (
	"context"
	"net/http"
	"path"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// WithoutNodeTaints is the flag that disables an admission plugin. Terrarium always does what the plugin does: a node that
// the test creates loses the taint before the test gets the response.
const WithoutNodeTaints = "--disable-admission-plugins=" + nodeTaints

const nodeTaints = "TaintNodesByCondition"

// createsNode reports whether the request has created a node, by a POST or by an apply.
func createsNode(request *http.Request, response *http.Response) bool {
	at := request.URL.Path
	return response.StatusCode == http.StatusCreated && (path.Base(at) == "nodes" || path.Base(path.Dir(at)) == "nodes")
}

func (s *Server) removeTaints() {
	if !s.untainted {
		return
	}
	config := rest.CopyConfig(s.Config)
	config.WrapTransport = nil
	nodes := kubernetes.NewForConfigOrDie(config).CoreV1().Nodes()
	list, err := nodes.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		Problemf("%s: %v", s.test, err)
		return
	}
	for _, node := range list.Items {
		isTaint := func(taint v1.Taint) bool { return taint.Key == v1.TaintNodeNotReady }
		if !slices.ContainsFunc(node.Spec.Taints, isTaint) {
			continue
		}
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isTaint)
		if _, err := nodes.Update(context.Background(), &node, metav1.UpdateOptions{}); err != nil {
			Problemf("%s: %v", s.test, err)
		}
	}
}
