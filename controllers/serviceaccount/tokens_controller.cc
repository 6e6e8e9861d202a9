#include "controllers/serviceaccount/tokens_controller.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/base/task.h"
#include "api/json_access.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/serviceaccount/internal/token_secret.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using serviceaccount::AccountOf;
using serviceaccount::AccountReference;
using serviceaccount::FilledIn;

constexpr const char* kName = "serviceaccount-token-controller";
constexpr const char* kSecrets = "secrets";
constexpr const char* kAccounts = "serviceaccounts";
constexpr const char* kByAccount = "service-account";
constexpr int kRetries = 10;

class TokensController : public std::enable_shared_from_this<TokensController> {
 public:
  explicit TokensController(const ControllerContext& context)
      : context_(context),
        secrets_(context.informers.For(kSecrets)),
        accounts_(context.informers.For(kAccounts)),
        loop_(context.env, context.metrics,
              LoopOptions{.name = "serviceaccount_tokens_service", .workers = 5, .retries_max = kRetries},
              [this](ObjectName secret) { return Sync(std::move(secret)); }) {}

  void Watch() {
    secrets_.AddIndex(kByAccount, [](const api::Object& secret) {
      const auto account = AccountOf(*secret.Document());
      return account ? std::vector{secret.header().ns + "/" + account->name} : std::vector<std::string>{};
    });
    std::weak_ptr<TokensController> weak = weak_from_this();
    auto seen = [weak](const ObjectPtr& secret) {
      auto self = weak.lock();
      if (self != nullptr && AccountOf(*secret->Document())) self->loop_.queue().Add(secret->name());
    };
    secrets_.AddHandler({.added = seen,
                         .updated = [seen](const ObjectPtr&, const ObjectPtr& secret) { seen(secret); },
                         .deleted =
                             [weak](const ObjectPtr& secret) {
                               auto self = weak.lock();
                               const auto account = AccountOf(*secret->Document());
                               if (self == nullptr || !account) return;
                               self->gone_[secret->name()] = account->name;
                               self->loop_.queue().Add(secret->name());
                             }});
    accounts_.AddHandler({.added = nullptr, .updated = nullptr, .deleted = [weak](const ObjectPtr& account) {
                            auto self = weak.lock();
                            if (self == nullptr) return;
                            const api::ObjectHeader& header = account->header();
                            for (const ObjectPtr& secret :
                                 self->secrets_.ByIndex(kByAccount, header.ns + "/" + header.name))
                              self->loop_.queue().Add(secret->name());
                          }});
  }

  void Start() { loop_.Start(); }

 private:
  api::Task<ReconcileResult> Sync(ObjectName name) {
    const ObjectPtr secret = secrets_.Get(name);
    if (secret == nullptr) co_return co_await RemoveReference(std::move(name));
    gone_.erase(name);
    const auto document = secret->Document();
    const std::optional<AccountReference> reference = AccountOf(*document);
    if (!reference) co_return Reconciled::Done();
    // The informer may not have seen a new account yet, and a deletion cannot be taken back.
    const ObjectName account_name{name.ns, reference->name};
    auto account = context_.client.Get(kAccounts, account_name);
    if (!account && !account.status().Is(api::reason::kNotFound)) co_return account.status();
    if (!account || (!reference->uid.empty() && reference->uid != (*account)->header().uid))
      co_return co_await DeleteToken(secret, account_name);
    auto filled = FilledIn(*document, (*account)->header().uid, context_.root_ca);
    if (!filled) co_return Reconciled::Done();
    // Written against the revision that was read; a conflict means that a newer one is on its way here.
    auto written = co_await context_.client.Update(kSecrets, std::move(*filled));
    if (!written && !written.status().Is(api::reason::kConflict) &&
        !written.status().Is(api::reason::kNotFound))
      co_return written.status();
    co_return Reconciled::Done();
  }

  // Takes a deleted Secret off the list of its account.
  api::Task<ReconcileResult> RemoveReference(ObjectName secret) {
    auto gone = gone_.extract(secret);
    if (gone.empty()) co_return Reconciled::Done();
    const ObjectName name{secret.ns, gone.mapped()};
    for (int tries = 0; tries < kRetries; ++tries) {
      auto account = context_.client.Get(kAccounts, name);
      if (!account) co_return Reconciled::Done();
      Json document = (*account)->Parse();
      if (api::ListAt(document, "secrets").empty()) co_return Reconciled::Done();
      auto& references = document["secrets"].get_ref<Json::array_t&>();
      const std::size_t removed = std::erase_if(
          references, [&](const Json& each) { return api::StringAt(each, "name") == secret.name; });
      if (removed == 0) co_return Reconciled::Done();
      auto written = co_await context_.client.Update(kAccounts, std::move(document));
      if (written || !written.status().Is(api::reason::kConflict)) co_return Reconciled::Done();
    }
    co_return Reconciled::Done();
  }

  api::Task<ReconcileResult> DeleteToken(ObjectPtr secret, ObjectName account) {
    api::DeleteRequest options{.uid = secret->header().uid};
    auto deleted = co_await context_.client.Delete(kSecrets, secret->name(), std::move(options));
    if (deleted) {
      context_.why.Record({.time = context_.env.clock.Now(),
                           .revision = secrets_.Revision(),
                           .controller = kName,
                           .action = "delete",
                           .resource = kSecrets,
                           .object = secret->name(),
                           .owner_resource = kAccounts,
                           .owner = account,
                           .rule = "the ServiceAccount of the token does not exist",
                           .saw = nullptr});
    } else if (!deleted.status().Is(api::reason::kNotFound) && !deleted.status().Is(api::reason::kConflict)) {
      co_return deleted.status();
    }
    co_return Reconciled::Done();
  }

  ControllerContext context_;
  Informer& secrets_;
  Informer& accounts_;
  std::map<ObjectName, std::string> gone_;  // deleted Secrets and their accounts
  ControllerLoop loop_;
};

}  // namespace

std::unique_ptr<Controller> MakeServiceAccountTokenController(const ControllerContext& context) {
  return std::make_unique<SharedController<TokensController>>(context);
}

}  // namespace terrarium::controllers
