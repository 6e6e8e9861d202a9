#include "apiserver/http/client_certificate.h"

#include <memory>
#include <vector>

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace terrarium::apiserver {
namespace {

std::vector<std::string> SubjectValues(X509_NAME* subject, int nid) {
  std::vector<std::string> values;
  for (int i = X509_NAME_get_index_by_NID(subject, nid, -1); i >= 0;
       i = X509_NAME_get_index_by_NID(subject, nid, i)) {
    ASN1_STRING* data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i));
    unsigned char* text = nullptr;
    int length = ASN1_STRING_to_UTF8(&text, data);
    if (length < 0) continue;
    values.emplace_back(reinterpret_cast<char*>(text), static_cast<std::size_t>(length));
    OPENSSL_free(text);
  }
  return values;
}

}  // namespace

UserInfo UserOfCertificate(const std::string& pem) {
  UserInfo user;
  user.name = "system:anonymous";
  user.groups.clear();
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                &BIO_free);
  std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free);
  if (certificate == nullptr) return user;
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  std::vector<std::string> names = SubjectValues(subject, NID_commonName);
  if (!names.empty()) user.name = names.back();
  user.groups = SubjectValues(subject, NID_organizationName);
  user.groups.emplace_back("system:authenticated");
  return user;
}

}  // namespace terrarium::apiserver
