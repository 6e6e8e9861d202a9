// Checks that the runner can fail: each case plays against a real handler with a wrong expectation.

#include "tests/wire/player.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/wire/format.h"

namespace terrarium::wire {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// The report of a conversation given as text, which may use the config map `thing`.
std::string Report(const std::string& steps, const std::string& gates = "") {
  std::string error;
  auto file = Parse("t.wire", "== t\n" + steps, &error);
  if (!file) return error;
  PlayOptions options{gates, {{"thing", "metadata: {name: thing}\ndata: {a: b}\n"}}};
  return Play(file->conversations[0], options);
}

const std::string kCreate = "POST /api/v1/namespaces/NS/configmaps\n@like thing\n--- 201\n";

TEST(WirePlayer, AConversationThatComesTrueIsSilent) {
  EXPECT_THAT(
      Report(kCreate +
             "@save rv = metadata.resourceVersion\n"
             "GET /api/v1/namespaces/NS/configmaps/thing\n--- 200\n"
             "metadata: {resourceVersion: \"{rv}\"}\ndata: {a: b}\n@exact data\n@absent binaryData\n"),
      IsEmpty());
}

TEST(WirePlayer, AFailureNamesTheLineAndTheRequestAndEndsTheConversation) {
  std::string report = Report("GET /api/v1/namespaces/NS/configmaps/none\n--- 200\nGET /nowhere\n--- 200\n");
  EXPECT_THAT(report,
              StartsWith("2: GET /api/v1/namespaces/NS/configmaps/none\n    expected HTTP 200, got 404"));
  EXPECT_THAT(report, testing::Not(HasSubstr("nowhere")));
}

TEST(WirePlayer, DifferencesOfTheDocumentAreSeen) {
  EXPECT_THAT(Report(kCreate + "data: {a: c}\n"), HasSubstr("data.a: expected \"c\", got \"b\""));
  EXPECT_THAT(Report(kCreate + "data: {}\n@exact data\n"), HasSubstr("data.a: expected nothing, got \"b\""));
  EXPECT_THAT(Report(kCreate + "@absent data\n"), HasSubstr("data: expected nothing"));
  EXPECT_THAT(Report(kCreate + "@save x = spec\n"), HasSubstr("spec: expected a value to save as x"));
  EXPECT_THAT(Report(kCreate + "@contains metadata.finalizers = x\n"), HasSubstr("expected an item \"x\""));
}

TEST(WirePlayer, DifferencesOfAStatusAreSeen) {
  const std::string get = "GET /api/v1/namespaces/NS/configmaps/none\n--- 404 ";
  EXPECT_THAT(Report(get + "NotFound\n@message configmaps \"none\" not found\n"), IsEmpty());
  EXPECT_THAT(Report(get + "Gone\n"), HasSubstr("reason: expected \"Gone\", got \"NotFound\""));
  EXPECT_THAT(Report(get + "NotFound\n@message none\n"), HasSubstr("message: expected \"none\""));
  EXPECT_THAT(Report(get + "NotFound\n@invalid Pod \"p\"\n@cause a: Required value\n"),
              HasSubstr("details.causes"));
}

TEST(WirePlayer, DifferencesOfHeadersWarningsAndTextsAreSeen) {
  EXPECT_THAT(Report(kCreate + "< Content-Type: text/plain\n"), HasSubstr("header Content-Type"));
  EXPECT_THAT(Report(kCreate + "@warning beware\n"), HasSubstr("warnings: expected [\"beware\"], got []"));
  EXPECT_THAT(Report("GET /livez\n--- 200\n| ok\n"), IsEmpty());
  EXPECT_THAT(Report("GET /livez\n--- 200\n| well\n"), HasSubstr("text: expected 'well', got 'ok'"));
  EXPECT_THAT(Report("GET /livez\n--- 200\n~ well\n"), HasSubstr("contains 'well'"));
}

TEST(WirePlayer, DifferencesOfStreamsAreSeen) {
  const std::string watch =
      "GET /api/v1/namespaces/NS/configmaps?watch=1&timeoutSeconds=2\n@stream w\n--- 200\n" + kCreate;
  EXPECT_THAT(Report(watch + "EVENTS w\n---\n- {type: ADDED}\n@end\n"), IsEmpty());
  EXPECT_THAT(Report(watch + "EVENTS w\n---\n- {type: DELETED}\n"),
              HasSubstr("[0].type: expected \"DELETED\""));
  EXPECT_THAT(Report(watch + "EVENTS w\n---\n- {type: ADDED}\n- {type: ADDED}\n"),
              HasSubstr("expected 2 items, got 1"));
  EXPECT_THAT(Report(watch + "EVENTS w\n---\n@end\n"), HasSubstr("expected the end of the stream, got {"));
  EXPECT_THAT(
      Report("GET /api/v1/namespaces/NS/configmaps?watch=1\n@stream w\n--- 200\nEVENTS w\n---\n@end\n"),
      HasSubstr("got an open one"));
  EXPECT_THAT(Report("EVENTS w\n---\n"), HasSubstr("there is no stream w"));
}

TEST(WirePlayer, CasesThatCannotBePlayedAreFailures) {
  EXPECT_THAT(Report("POST /x\n@like nothing\n--- 200\n"), HasSubstr("there is no @object nothing"));
  EXPECT_THAT(Report("GET /{never}\n--- 200\n"), HasSubstr("nothing was saved as {never}"));
  EXPECT_THAT(Report("POST /x\n\n{a: \n--- 200\n"), HasSubstr("cannot read the YAML of the case"));
  EXPECT_THAT(Report("POST /x\n@like thing\n@set data.a.b = 1\n--- 200\n"), HasSubstr("@set leads nowhere"));
  EXPECT_THAT(Report("GET /livez\n--- 200\n", "Nonsense=true"), HasSubstr("gates: "));
}

}  // namespace
}  // namespace terrarium::wire
