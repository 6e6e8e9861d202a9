#include "apiserver/openapi/internal/parameters.h"

namespace terrarium::apiserver::openapi {
namespace {

constexpr Parameter kPretty = {"pretty", "string", "If 'true', the answer is indented for people to read."};
constexpr Parameter kDryRun = {
    "dryRun", "string", "'All' runs every step of the request but stores nothing. Other values are refused."};
constexpr Parameter kFieldManager = {"fieldManager", "string",
                                     "A name for who makes this change, at most 128 printable characters."};
constexpr Parameter kFieldValidation = {"fieldValidation", "string",
                                        "What to do about unknown and duplicate fields: Ignore drops them "
                                        "silently, Warn drops them with a warning, Strict "
                                        "refuses the request."};
constexpr Parameter kForce = {"force", "boolean",
                              "Only for apply patches: take over fields that others manage."};
constexpr Parameter kGrace = {
    "gracePeriodSeconds", "integer",
    "Seconds until the object is removed; 0 removes it immediately. Left out, the kind's own."};
constexpr Parameter kIgnoreReadErrors = {"ignoreStoreReadErrorWithClusterBreakingPotential", "boolean",
                                         "Delete even an object that can no longer be read from the store."};
constexpr Parameter kOrphan = {"orphanDependents", "boolean", "Deprecated; use propagationPolicy."};
constexpr Parameter kPropagation = {"propagationPolicy", "string",
                                    "What happens to dependents: Orphan, Background or Foreground."};
constexpr Parameter kBookmarks = {"allowWatchBookmarks", "boolean", "Let a watch send BOOKMARK events."};
constexpr Parameter kContinue = {"continue", "string", "The token of the previous page of a list."};
constexpr Parameter kFieldSelector = {"fieldSelector", "string",
                                      "Restricts the list to objects with these fields."};
constexpr Parameter kLabelSelector = {"labelSelector", "string",
                                      "Restricts the list to objects with these labels."};
constexpr Parameter kLimit = {"limit", "integer", "The most items that one answer may hold."};
constexpr Parameter kResourceVersion = {"resourceVersion", "string", "How fresh the answer must be."};
constexpr Parameter kResourceVersionMatch = {
    "resourceVersionMatch", "string", "How resourceVersion is meant in a list: Exact or NotOlderThan."};
constexpr Parameter kSendInitialEvents = {"sendInitialEvents", "boolean",
                                          "Begin a watch with all present objects and a bookmark."};
constexpr Parameter kTimeout = {"timeoutSeconds", "integer", "How long a list or watch may take."};
constexpr Parameter kWatch = {"watch", "boolean", "Follow changes instead of listing."};

}  // namespace

std::vector<Parameter> ReadParameters() { return {kPretty}; }

std::vector<Parameter> ListParameters() {
  return {kPretty,
          kBookmarks,
          kContinue,
          kFieldSelector,
          kLabelSelector,
          kLimit,
          kResourceVersion,
          kResourceVersionMatch,
          kSendInitialEvents,
          kTimeout,
          kWatch};
}

std::vector<Parameter> WriteParameters() { return {kPretty, kDryRun, kFieldManager, kFieldValidation}; }

std::vector<Parameter> PatchParameters() {
  return {kPretty, kDryRun, kFieldManager, kFieldValidation, kForce};
}

std::vector<Parameter> DeleteParameters() {
  return {kPretty, kDryRun, kGrace, kIgnoreReadErrors, kOrphan, kPropagation};
}

std::vector<Parameter> DeleteCollectionParameters() {
  return {kPretty,
          kContinue,
          kDryRun,
          kFieldSelector,
          kGrace,
          kIgnoreReadErrors,
          kLabelSelector,
          kLimit,
          kOrphan,
          kPropagation,
          kResourceVersion,
          kResourceVersionMatch,
          kSendInitialEvents,
          kTimeout};
}

std::vector<Parameter> LogParameters() {
  return {
      kPretty,
      {"container", "string", "The container; may be left out when the pod has one."},
      {"follow", "boolean", "Go on sending lines as they are written."},
      {"insecureSkipTLSVerifyBackend", "boolean", "Do not check the node's certificate."},
      {"limitBytes", "integer", "Send no more than this many bytes."},
      {"previous", "boolean", "The log of the container's previous run."},
      {"sinceSeconds", "integer", "Only lines of the last so many seconds."},
      {"stream", "string", "All, Stdout or Stderr."},
      {"tailLines", "integer", "Only the last so many lines."},
      {"timestamps", "boolean", "Begin each line with its time."},
  };
}

std::vector<Parameter> ConnectParameters(std::string_view subresource) {
  if (subresource == "portforward") return {{"ports", "integer", "The ports to forward."}};
  std::vector<Parameter> out = {
      {"container", "string", "The container; may be left out when the pod has one."},
      {"stderr", "boolean", "Redirect the standard error stream."},
      {"stdin", "boolean", "Redirect the standard input stream."},
      {"stdout", "boolean", "Redirect the standard output stream."},
      {"tty", "boolean", "Allocate a terminal."},
  };
  if (subresource == "exec")
    out.insert(out.begin(), {"command", "string", "The command to execute; repeated for each of its words."});
  return out;
}

Parameter NamespaceParameter() { return {"namespace", "string", "The namespace of the object."}; }

Parameter NameParameter() { return {"name", "string", "The name of the object."}; }

}  // namespace terrarium::apiserver::openapi
