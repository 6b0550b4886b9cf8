package sandbox

// defaultRules are the names that usually hold credentials. Each is matched
// against one component at any depth, those with a slash against as many, and
// what lies below a match is denied with it. except keeps the harmless
// siblings of a rule.
var defaultRules = []struct {
	text   string
	except []string
}{
	{text: ".git"},
	{text: ".env"},
	{text: ".env.*", except: []string{".env.example", ".env.sample", ".env.template", ".env.dist"}},
	{text: "*.env", except: []string{"*example.env", "*sample.env", "*template.env", "*dist.env"}},
	{text: ".envrc"}, {text: ".envrc.local"}, {text: ".envrc.private"}, {text: ".dev.vars"},

	// Keys and what keeps them.
	{text: "*.pem"}, {text: "*.key"}, {text: "*.p12"}, {text: "*.pfx"}, {text: "*.pkcs12"}, {text: "*.p8"}, {text: "*.ppk"},
	{text: "*.jks"}, {text: "*.keystore"}, {text: "*.kdbx"}, {text: "*.kdb"}, {text: "*.psafe3"}, {text: "*.ovpn"},
	{text: "*.keytab"}, {text: "*.keychain"}, {text: "*.keychain-db"}, {text: "*.agekey"}, {text: "secring.gpg"},
	{text: "sops/age"},
	{text: "id_rsa*", except: []string{"*.pub"}},
	{text: "id_dsa*", except: []string{"*.pub"}},
	{text: "id_ecdsa*", except: []string{"*.pub"}},
	{text: "id_ed25519*", except: []string{"*.pub"}},
	{text: ".ssh"}, {text: ".gnupg"},

	// Clouds and clusters.
	{text: ".aws"}, {text: ".azure"}, {text: ".oci"}, {text: ".config/gcloud"}, {text: "application_default_credentials.json"},
	{text: ".kube"}, {text: "kubeconfig"}, {text: "kubeconfig.yaml"}, {text: "kubeconfig.yml"}, {text: "*.kubeconfig"}, {text: "talosconfig"},
	{text: ".docker/config.json"}, {text: ".dockercfg"}, {text: "containers/auth.json"},
	{text: "*.tfstate*"}, {text: "terraform.tfvars"}, {text: "terraform.tfvars.json"}, {text: ".terraformrc"},
	{text: "credentials.json"}, {text: "credentials.tfrc.json"}, {text: ".credentials.json"}, {text: "service-account*.json"}, {text: "serviceaccountkey*.json"},
	{text: "client_secret*.json"}, {text: "gha-creds-*.json"}, {text: ".databrickscfg"}, {text: ".s3cfg"}, {text: ".boto"},

	// Programs that log in.
	{text: ".netrc"}, {text: "_netrc"}, {text: ".npmrc"}, {text: ".pypirc"}, {text: ".pgpass"}, {text: "pgpass.conf"},
	{text: ".my.cnf"}, {text: ".mylogin.cnf"}, {text: ".git-credentials"}, {text: ".gitcookies"}, {text: ".htpasswd"},
	{text: ".cargo/credentials"}, {text: ".cargo/credentials.toml"}, {text: ".gem/credentials"}, {text: ".m2/settings.xml"},
	{text: ".config/gh"}, {text: ".composer/auth.json"}, {text: "composer/auth.json"}, {text: ".codex/auth.json"}, {text: ".streamlit/secrets.toml"},
	{text: ".vault-token"}, {text: ".vault_pass*"}, {text: ".erlang.cookie"}, {text: ".subversion/auth"},

	// What was typed.
	{text: ".bash_history"}, {text: ".zsh_history"}, {text: ".*_history"}, {text: ".history"},
	{text: ".histfile"}, {text: ".lesshst"}, {text: "fish_history"}, {text: "consolehost_history.txt"},
}
