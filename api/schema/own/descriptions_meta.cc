// Explanations of the parts that every object has, in our own words.

#include "api/schema/own/declarations.h"

namespace terrarium::api::own {
namespace {

constexpr Description kMetaDescriptions[] = {
    {"meta.v1.ObjectMeta", "", "What every stored object has."},
    {"meta.v1.ObjectMeta", "name", "Unique among the objects of its kind and namespace; cannot be changed."},
    {"meta.v1.ObjectMeta", "generateName", "A prefix for a name the server makes up when name is empty."},
    {"meta.v1.ObjectMeta", "namespace", "The namespace it lives in; cannot be changed."},
    {"meta.v1.ObjectMeta", "selfLink", "No longer set."},
    {"meta.v1.ObjectMeta", "uid",
     "Distinguishes it from an earlier object of the same name. Set by the server."},
    {"meta.v1.ObjectMeta", "resourceVersion",
     "Changes with every write; send it back with an update to have a conflicting one refused. Opaque."},
    {"meta.v1.ObjectMeta", "generation", "Counts the changes of the spec. Set by the server."},
    {"meta.v1.ObjectMeta", "creationTimestamp", "When it was created. Set by the server."},
    {"meta.v1.ObjectMeta", "deletionTimestamp",
     "When it will be gone at the latest. Set by the server when deletion is asked for; then only "
     "finalizers keep it."},
    {"meta.v1.ObjectMeta", "deletionGracePeriodSeconds",
     "How long it was given to end. Set together with deletionTimestamp."},
    {"meta.v1.ObjectMeta", "labels", "Keys and values to select objects by."},
    {"meta.v1.ObjectMeta", "annotations", "Keys and values for tools and people; not for selecting."},
    {"meta.v1.ObjectMeta", "ownerReferences",
     "The objects it depends on. When all are gone it is deleted too. At most one is its controller."},
    {"meta.v1.ObjectMeta", "finalizers",
     "Names of those who have something to do before it may go; it is removed when the list is empty."},
    {"meta.v1.ObjectMeta", "managedFields", "Who last wrote which fields. Kept by the server."},
    {"meta.v1.OwnerReference", "", "Names an owner, which is in the same namespace or in none."},
    {"meta.v1.OwnerReference", "apiVersion", "Group and version of the owner."},
    {"meta.v1.OwnerReference", "kind", "Kind of the owner."},
    {"meta.v1.OwnerReference", "name", "Name of the owner."},
    {"meta.v1.OwnerReference", "uid", "UID of the owner."},
    {"meta.v1.OwnerReference", "controller", "True for the owner that manages the object."},
    {"meta.v1.OwnerReference", "blockOwnerDeletion",
     "True to keep the owner, when it is deleted in the foreground, until this object is gone."},
    {"meta.v1.ListMeta", "", "What every list has."},
    {"meta.v1.ListMeta", "resourceVersion", "The revision that the list shows; a watch may start from it."},
    {"meta.v1.ListMeta", "continue", "Not empty when there is more; send it to get the next page."},
    {"meta.v1.ListMeta", "remainingItemCount", "About how many items follow this page."},
    {"meta.v1.LabelSelector", "",
     "Selects objects by label. All requirements must hold; an empty selector matches everything."},
    {"meta.v1.LabelSelector", "matchLabels", "Labels that must have exactly these values."},
    {"meta.v1.LabelSelector", "matchExpressions", "Requirements with an operator."},
    {"meta.v1.LabelSelectorRequirement", "key", "The label."},
    {"meta.v1.LabelSelectorRequirement", "operator", "In, NotIn, Exists or DoesNotExist."},
    {"meta.v1.LabelSelectorRequirement", "values", "Values for In and NotIn; empty for the others."},
    {"meta.v1.Status", "", "The outcome of a request that returns no object."},
    {"meta.v1.Status", "status", "Success or Failure."},
    {"meta.v1.Status", "message", "A sentence for people."},
    {"meta.v1.Status", "reason", "One word for programs, more specific than the code."},
    {"meta.v1.Status", "details", "What the failure is about."},
    {"meta.v1.Status", "code", "The HTTP code."},
    {"meta.v1.DeleteOptions", "", "How to delete."},
    {"meta.v1.DeleteOptions", "gracePeriodSeconds",
     "How long the object has to end; 0 removes it immediately."},
    {"meta.v1.DeleteOptions", "propagationPolicy",
     "Orphan leaves its dependents, Background deletes them afterwards, Foreground deletes them first."},
    {"meta.v1.DeleteOptions", "preconditions", "Delete only when the object is still this one."},
    {"meta.v1.DeleteOptions", "dryRun", "All to do everything but write."},
    {"meta.v1.Condition", "", "One aspect of an object's state."},
    {"meta.v1.Condition", "type", "Which aspect."},
    {"meta.v1.Condition", "status", "True, False or Unknown."},
    {"meta.v1.Condition", "observedGeneration", "The generation it describes."},
    {"meta.v1.Condition", "lastTransitionTime", "When the status last changed."},
    {"meta.v1.Condition", "reason", "One word for programs."},
    {"meta.v1.Condition", "message", "A sentence for people."},
};

}  // namespace

std::span<const Description> MetaDescriptions() { return kMetaDescriptions; }

}  // namespace terrarium::api::own
