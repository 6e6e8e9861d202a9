#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "apiserver/request.h"

namespace terrarium::testbed {

// kube-apiserver's static token file: lines of token,user,uid[,"group1,group2"].
class TokenFile {
 public:
  static api::Result<TokenFile> Read(const std::string& path);

  std::optional<apiserver::UserInfo> Find(const std::string& token) const;
  // The first line's token, for the kubeconfig that we write.
  const std::string& first() const { return first_; }

 private:
  std::map<std::string, apiserver::UserInfo> users_;
  std::string first_;
};

}  // namespace terrarium::testbed
