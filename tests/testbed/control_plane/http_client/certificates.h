#pragma once

// Certificates for one test, generated in memory.

#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace terrarium::testbed::testing_tls {

struct KeyFree {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct CertificateFree {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct ContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using ContextPtr = std::unique_ptr<SSL_CTX, ContextFree>;

struct Identity {
  std::unique_ptr<EVP_PKEY, KeyFree> key;
  std::unique_ptr<X509, CertificateFree> certificate;

  std::string Pem() const;  // of the certificate
  std::string KeyPem() const;
};

struct IdentityOptions {
  std::string common_name = "terrarium test";
  std::string alternative_names = {};  // "DNS:localhost,IP:127.0.0.1"
  const Identity* issuer = nullptr;    // nullptr: self-signed
  bool authority = false;
  long valid_from_seconds = -3600;  // from now
  long valid_to_seconds = 3600;
};

Identity MakeIdentity(const IdentityOptions& options);
// The TLS context of a server with this identity.
ContextPtr ServerContext(const Identity& identity);

// A file that is deleted with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text);
  ~TemporaryFile();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace terrarium::testbed::testing_tls
