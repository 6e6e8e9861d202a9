// Package options has those options of kube-apiserver that tests set before they start one.
package options

// ServerRunOptions are the options of one server.
type ServerRunOptions struct {
	ServiceAccountSigningKeyFile  string
	ServiceAccountSigningEndpoint string

	Authentication struct {
		ServiceAccounts struct{ KeyFiles []string }
	}
	Admission struct {
		GenericAdmission struct {
			DisablePlugins []string
			ConfigFile     string
		}
	}
}
