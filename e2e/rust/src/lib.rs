//! Drives a running server with kube-rs, as its users do.
//!
//! The server is a bare apiserver (KUBECONFIG): the tests write statuses in the place of controllers and kubelets. Every
//! test has its own namespace.

#![cfg(test)]

mod apply;
mod controller;
mod objects;
mod subresources;
mod support;
mod watches;
