//! Kafka's client properties from where people give them: a file, `-X`, flags.

use std::path::Path;

use crate::cli::Failure;
use crate::client::profile::Profile;
use crate::client::properties::file::{Entry, parse};
use crate::client::properties::providers::{Place, Providers};
use crate::client::properties::{Given, Outcome, read};

/// Where properties come from; the later fields win over the earlier.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The defaults.
    pub profile: Profile,
    /// `--command-config`.
    pub file: Option<&'a str>,
    /// `-X`, KEY=VALUE each.
    pub command_line: &'a [String],
    /// A flag with a property of the same meaning, that property, and the flag's value.
    pub flags: &'a [(&'static str, &'static str, Option<&'a str>)],
}

/// What they come to.
///
/// # Errors
/// The property or the file that can't be, and why.
pub fn settings(sources: &Sources<'_>) -> Result<Outcome, Failure> {
    let mut given = match sources.file {
        Some(path) => from_file(path).map_err(Failure::Usage)?,
        None => Vec::new(),
    };
    for property in sources.command_line {
        let (name, value) = property
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("-X {property}: KEY=VALUE is wanted")))?;
        given.push(Given {
            origin: "-X".to_owned(),
            name: name.trim().to_owned(),
            value: value.to_owned(),
        });
    }
    for (flag, name, value) in sources.flags {
        let Some(value) = value else { continue };
        given.push(Given {
            origin: (*flag).to_owned(),
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        });
    }
    read(sources.profile, &given).map_err(|e| Failure::Usage(e.to_string()))
}

/// The properties of a file, with what its `config.providers` refer to.
///
/// # Errors
/// The file, the line and what is wrong there.
pub fn from_file(path: &str) -> Result<Vec<Given>, String> {
    let entries = entries(path)?;
    let value_of = |name: &str| {
        let mut named = entries.iter().rev().filter(|entry| entry.name == name);
        named.next().map(|entry| entry.value.as_str())
    };
    let names = value_of("config.providers").unwrap_or_default();
    let providers = Providers::declared(names, value_of).map_err(|why| format!("{path}: {why}"))?;
    let mut given = Vec::new();
    for entry in &entries {
        let Entry { line, name, value } = entry;
        if name.starts_with("config.providers") {
            continue;
        }
        let value = providers
            .resolve(value, &fetch)
            .map_err(|why| format!("{path} line {line}: {name}: {why}"))?;
        given.push(Given {
            origin: format!("{path} line {line}:"),
            name: name.clone(),
            value,
        });
    }
    Ok(given)
}

fn entries(path: &str) -> Result<Vec<Entry>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    parse(&bytes).map_err(|e| format!("{path} {e}"))
}

fn fetch(place: Place<'_>) -> Result<String, String> {
    match place {
        Place::Environment { name } => {
            std::env::var(name).map_err(|_| "the variable is not set".to_owned())
        }
        Place::Property { path, name } => {
            let mut entries = entries(path)?.into_iter().rev();
            let found = entries.find(|entry| entry.name == name);
            let found = found.ok_or_else(|| format!("{path} has no property {name}"))?;
            Ok(found.value)
        }
        Place::File { directory, name } => {
            let inside = !name.contains('/') && name != "..";
            if !inside {
                return Err("a file's name in the directory is wanted".to_owned());
            }
            let path = Path::new(directory).join(name);
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_kept_elsewhere_are_fetched_and_what_is_missing_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(path("linger"), "7").unwrap();
        std::fs::write(path("kept.properties"), "size = 4096").unwrap();
        let file = format!(
            "config.providers=d,f\n\
             config.providers.d.class=DirectoryConfigProvider\n\
             config.providers.f.class=FileConfigProvider\n\
             linger.ms=${{d:{}:linger}}\n\
             batch.size=${{f:{}:size}}\n",
            dir.path().display(),
            path("kept.properties"),
        );
        std::fs::write(path("client.properties"), &file).unwrap();
        let given = from_file(&path("client.properties")).unwrap();
        let values: Vec<_> = given
            .iter()
            .map(|g| (g.name.as_str(), g.value.as_str()))
            .collect();
        assert_eq!(values, [("linger.ms", "7"), ("batch.size", "4096")]);
        assert!(given[0].origin.ends_with("client.properties line 4:"));
        std::fs::write(path("client.properties"), file.replace(":size", ":sise")).unwrap();
        let missing = from_file(&path("client.properties")).unwrap_err();
        assert!(missing.contains("line 5: batch.size") && missing.contains("no property sise"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let missing = from_file("no-such.properties").unwrap_err();
        assert!(
            missing.starts_with("no-such.properties: No such file"),
            "{missing}"
        );
    }
}
