//! Values kept elsewhere: `${env:VAR}`, `${file:PATH:KEY}` and `${directory:PATH:FILE}`, by
//! `config.providers`.

/// Where a value is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// A variable of the environment.
    Environment {
        /// Its name.
        name: &'a str,
    },
    /// A property in a file of properties.
    Property {
        /// The file.
        path: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// A whole file in a directory.
    File {
        /// The directory.
        directory: &'a str,
        /// Its name there.
        name: &'a str,
    },
}

/// Fetches a value from its place, or says why it can't.
pub type Fetch<'a> = dyn Fn(Place<'_>) -> Result<String, String> + 'a;

/// The providers that a file declares.
#[derive(Debug, Default)]
pub struct Providers(Vec<(String, Kind)>);

#[derive(Debug, Clone, Copy)]
enum Kind {
    Environment,
    File,
    Directory,
}

impl Providers {
    /// Those of `config.providers`, whose classes `value_of` tells.
    ///
    /// # Errors
    /// When a provider has no class, or one that kdyno has not.
    pub fn declared<'a>(
        names: &str,
        value_of: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Self, String> {
        let names = names.split(',').map(str::trim);
        let providers = names.filter(|name| !name.is_empty()).map(|name| {
            let key = format!("config.providers.{name}.class");
            let class = value_of(&key).ok_or_else(|| format!("{key} is missing"))?;
            match class.trim().strip_prefix(PACKAGE).unwrap_or(class) {
                "EnvVarConfigProvider" => Ok((name.to_owned(), Kind::Environment)),
                "FileConfigProvider" => Ok((name.to_owned(), Kind::File)),
                "DirectoryConfigProvider" => Ok((name.to_owned(), Kind::Directory)),
                other => Err(format!(
                    "{key}={other}: kdyno has EnvVarConfigProvider, FileConfigProvider and \
                     DirectoryConfigProvider of {PACKAGE}*"
                )),
            }
        });
        providers.collect::<Result<_, _>>().map(Self)
    }

    /// `value` with its references replaced. Those to no declared provider stay as they are.
    ///
    /// # Errors
    /// When a value can't be fetched.
    pub fn resolve(&self, value: &str, fetch: &Fetch<'_>) -> Result<String, String> {
        let mut resolved = String::new();
        let mut rest = value;
        while let Some((before, reference, after)) = next_reference(rest) {
            resolved.push_str(before);
            match self.place(reference) {
                Some(place) => {
                    let found = fetch(place).map_err(|why| format!("${{{reference}}}: {why}"))?;
                    resolved.push_str(&found);
                }
                None => resolved.push_str(&format!("${{{reference}}}")),
            }
            rest = after;
        }
        resolved.push_str(rest);
        Ok(resolved)
    }

    fn place<'a>(&self, reference: &'a str) -> Option<Place<'a>> {
        let (provider, where_) = reference.split_once(':')?;
        let (_, kind) = self.0.iter().find(|(name, _)| name == provider)?;
        Some(match kind {
            Kind::Environment => Place::Environment { name: where_ },
            Kind::File => {
                let (path, name) = where_.rsplit_once(':')?;
                Place::Property { path, name }
            }
            Kind::Directory => {
                let (directory, name) = where_.rsplit_once(':')?;
                Place::File { directory, name }
            }
        })
    }
}

fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (reference, after) = rest.split_once('}')?;
    Some((before, reference, after))
}

const PACKAGE: &str = "org.apache.kafka.common.config.provider.";

#[cfg(test)]
mod tests {
    use super::*;

    fn providers() -> Providers {
        let class = |key: &str| match key {
            "config.providers.env.class" => {
                Some("org.apache.kafka.common.config.provider.EnvVarConfigProvider")
            }
            "config.providers.f.class" => {
                Some("org.apache.kafka.common.config.provider.FileConfigProvider")
            }
            "config.providers.d.class" => Some("DirectoryConfigProvider"),
            _ => None,
        };
        Providers::declared("env, f,d", class).unwrap()
    }

    #[test]
    fn references_are_replaced_wherever_they_stand() {
        let fetch = |place: Place<'_>| Ok(format!("<{place:?}>"));
        let resolved = providers().resolve("a-${env:B}-c", &fetch).unwrap();
        assert_eq!(resolved, "a-<Environment { name: \"B\" }>-c");
        let resolved = providers().resolve("${f:/a/b.properties:k}", &fetch);
        assert!(resolved.unwrap().contains("path: \"/a/b.properties\""));
        let resolved = providers().resolve("${d:/a:k}", &fetch).unwrap();
        assert_eq!(resolved, "<File { directory: \"/a\", name: \"k\" }>");
    }

    #[test]
    fn a_reference_to_nobody_stays_and_a_missing_value_is_an_error() {
        let missing = |_: Place<'_>| Err("it is not set".to_owned());
        let kept = providers().resolve("${vault:x} ${open", &missing);
        assert_eq!(kept.unwrap(), "${vault:x} ${open");
        let failed = providers().resolve("${env:NO}", &missing);
        assert_eq!(failed.unwrap_err(), "${env:NO}: it is not set");
    }

    #[test]
    fn a_provider_that_kdyno_has_not_is_refused() {
        let refused = Providers::declared("v", |_| Some("com.example.Vault")).unwrap_err();
        assert!(refused.starts_with("config.providers.v.class=com.example.Vault"));
        assert!(Providers::declared("v", |_| None).is_err());
    }
}
