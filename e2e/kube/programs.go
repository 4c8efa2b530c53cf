// Package kube pins the programs of a real Kubernetes control plane, so that
// one go.mod and go.sum say exactly what the end-to-end suite runs against.
//
// A main package cannot be imported, so each import below is the library
// behind one: it puts everything that program needs into the module graph.
// The programs themselves are built by the script next to this file.
package kube

import (
	_ "go.etcd.io/etcd/server/v3/etcdmain"       // etcd
	_ "k8s.io/component-base/cli"                // kubectl
	_ "k8s.io/kubectl/pkg/cmd"                   // kubectl
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app" // kube-apiserver
	_ "k8s.io/pod-security-admission/policy"     // only its test data: the Pod Security fixtures
)
