#include "tests/testbed/control_plane/http_client/certificates.h"

#include <cstdlib>
#include <functional>

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "api/base/check.h"

namespace terrarium::testbed::testing_tls {
namespace {

void AddExtension(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
  CHECK(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// The text that `write` writes.
std::string Written(const std::function<int(BIO*)>& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  CHECK(write(bio) == 1);
  char* data = nullptr;
  long length = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(length));
  BIO_free(bio);
  return out;
}

}  // namespace

std::string Identity::Pem() const {
  return Written([this](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
}

std::string Identity::KeyPem() const {
  return Written([this](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

Identity MakeIdentity(const IdentityOptions& options) {
  static long serial = 0;
  Identity made;
  made.key.reset(EVP_EC_gen("P-256"));
  made.certificate.reset(X509_new());
  X509* certificate = made.certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), options.valid_from_seconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate), options.valid_to_seconds);
  X509_set_pubkey(certificate, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(options.common_name.c_str()), -1, -1, 0);
  const Identity& issuer = options.issuer != nullptr ? *options.issuer : made;
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer.certificate.get()));
  if (options.authority)
    AddExtension(certificate, issuer.certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  if (!options.alternative_names.empty())
    AddExtension(certificate, issuer.certificate.get(), NID_subject_alt_name, options.alternative_names);
  CHECK(X509_sign(certificate, issuer.key.get(), EVP_sha256()) > 0);
  return made;
}

ContextPtr ServerContext(const Identity& identity) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  CHECK(SSL_CTX_use_certificate(context.get(), identity.certificate.get()) == 1);
  CHECK(SSL_CTX_use_PrivateKey(context.get(), identity.key.get()) == 1);
  return context;
}

TemporaryFile::TemporaryFile(const std::string& text) {
  const char* folder = std::getenv("TMPDIR");
  path_ = std::string(folder != nullptr ? folder : "/tmp") + "/terrarium-test-XXXXXX";
  int fd = mkstemp(path_.data());
  CHECK(fd >= 0);
  CHECK(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(fd);
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

}  // namespace terrarium::testbed::testing_tls
