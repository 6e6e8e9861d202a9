//! A controller as kube-rs' users write them: each reconcile applies what the owner wants, and removes nothing by hand.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::serde_json::json;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::wait::await_condition;
use kube::runtime::{Controller, watcher};
use kube::{Client, Resource, ResourceExt};

use crate::support::{Cluster, applied_map, apply, owners, within};

const NAME: &str = "copier";

/// Each ConfigMap gets a Secret with the same data.
async fn reconcile(map: Arc<ConfigMap>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let secrets = Api::<Secret>::namespaced((*client).clone(), &map.namespace().expect("a namespace"));
    let name = map.name_any();
    let data = map.data.iter().flatten().map(|(key, value)| (key.clone(), ByteString(value.clone().into_bytes())));
    let wish = Secret {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            owner_references: Some(vec![map.controller_owner_ref(&()).expect("an owner")]),
            ..Default::default()
        },
        data: Some(data.collect()),
        ..Default::default()
    };
    secrets.patch(&name, &PatchParams::apply(NAME).force(), &Patch::Apply(&wish)).await?;
    Ok(Action::await_change())
}

/// Whether the Secret has exactly this data.
fn has(expected: &'static [(&'static str, &'static str)]) -> impl Fn(Option<&Secret>) -> bool {
    move |secret| {
        let Some(data) = secret.and_then(|secret| secret.data.as_ref()) else { return false };
        let found: Vec<_> = data.iter().map(|(key, value)| (key.as_str(), value.0.as_slice())).collect();
        found == expected.iter().map(|(key, value)| (*key, value.as_bytes())).collect::<Vec<_>>()
    }
}

#[tokio::test]
async fn a_controller_applies_restores_and_recreates() {
    let cluster = Cluster::connect().await;
    let maps = cluster.api::<ConfigMap>();
    let secrets = cluster.api::<Secret>();
    let controller = Controller::new(maps.clone(), watcher::Config::default())
        .owns(secrets.clone(), watcher::Config::default())
        .run(
            reconcile,
            |_, error, _| {
                eprintln!("reconcile: {error}");
                Action::requeue(Duration::from_millis(100))
            },
            Arc::new(cluster.client.clone()),
        )
        .for_each(|_| async {});
    let running = tokio::spawn(controller);

    let owner = apply(&maps, "user", &applied_map("one", json!({"a": "1", "b": "2"}))).await.unwrap();
    let made = within("copy", await_condition(secrets.clone(), "one", has(&[("a", "1"), ("b", "2")]))).await.unwrap();
    let made = made.expect("the Secret");
    assert_eq!(made.owner_references()[0].uid, owner.uid().unwrap());

    // What the owner no longer has goes from the copy.
    apply(&maps, "user", &applied_map("one", json!({"a": "3"}))).await.unwrap();
    within("change", await_condition(secrets.clone(), "one", has(&[("a", "3")]))).await.unwrap();

    // A foreign change is overwritten; "eA==" is x.
    let foreign = Patch::Merge(json!({"data": {"a": "eA=="}}));
    let changed = secrets.patch("one", &PatchParams::default(), &foreign).await.unwrap();
    assert!(has(&[("a", "x")])(Some(&changed)));
    within("restored copy", await_condition(secrets.clone(), "one", has(&[("a", "3")]))).await.unwrap();

    let uid = made.uid();
    secrets.delete("one", &DeleteParams::default()).await.unwrap();
    let again = |secret: Option<&Secret>| has(&[("a", "3")])(secret) && secret.and_then(|s| s.uid()) != uid;
    let again = within("new copy", await_condition(secrets.clone(), "one", again)).await.unwrap();
    assert!(owners(&again.unwrap()).contains_key("copier Apply"));

    running.abort();
}
