//go:build tools

// Keeps the modules whose sources we read in go.mod; nothing here is compiled.
package main

import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)
