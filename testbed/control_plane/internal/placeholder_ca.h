#pragma once

namespace terrarium::testbed {

// The certificate in kube-root-ca.crt of a server without TLS: valid PEM for clients that parse it, of an
// authority whose key does not exist any more. The same everywhere, so that testbeds with the same seed
// agree.
inline constexpr const char* kPlaceholderCa =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBaDCCAQ+gAwIBAgIBATAKBggqhkjOPQQDAjAjMSEwHwYDVQQDDBh0ZXJyYXJp\n"
    "dW0tcGxhY2Vob2xkZXItY2EwIBcNMDAwMTAxMDAwMDAwWhgPOTk5OTEyMzEyMzU5\n"
    "NTlaMCMxITAfBgNVBAMMGHRlcnJhcml1bS1wbGFjZWhvbGRlci1jYTBZMBMGByqG\n"
    "SM49AgEGCCqGSM49AwEHA0IABKD0Nq9ZAxGGeLKtqpKOwdpjoIyYrNUZN4MnzSI4\n"
    "GTSoXmrZC0/AFz/ZEc8kKPH6KFAQpaP9khJqR5dFIongyUujMjAwMA8GA1UdEwEB\n"
    "/wQFMAMBAf8wHQYDVR0OBBYEFHmE8nleWfkIG9NPL/s8dO/N4urSMAoGCCqGSM49\n"
    "BAMCA0cAMEQCIHXvVYaELF2l2oNS87u3tiLDzb2Dz1Jy3PsLLsudJc0GAiAJtDKv\n"
    "J6YX8/bIsontMsxMgNFGyro+sEFIoeQV8OlqvA==\n"
    "-----END CERTIFICATE-----\n";

}  // namespace terrarium::testbed
