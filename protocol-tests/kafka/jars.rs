//! Apache Kafka's jars, resolved once by Maven into a cache folder under the build's own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The class path of a release, resolving it first where the cache has none.
pub fn class_path(version: &str) -> Result<PathBuf, String> {
    let folder = cache_folder().join(version);
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let lock = File::create(folder.join("lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    let complete = folder.join("complete");
    if !complete.exists() {
        resolve(version, &folder)?;
        fs::write(&complete, version).map_err(|e| e.to_string())?;
    }
    require_java()?;
    Ok(folder.join("libs"))
}

/// Where everything about real Kafka lives: beside the binaries that the tests run.
pub fn cache_folder() -> PathBuf {
    let mut folder = PathBuf::from(env!("CARGO_BIN_EXE_kdyno"));
    folder.pop();
    folder.pop();
    folder.join("kafka")
}

fn require_java() -> Result<(), String> {
    let version = Command::new("java")
        .arg("-version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match version {
        Ok(status) if status.success() => Ok(()),
        _ => Err("java is not installed".into()),
    }
}

fn resolve(version: &str, folder: &Path) -> Result<(), String> {
    fs::write(folder.join("pom.xml"), pom(version)).map_err(|e| e.to_string())?;
    let mut tries = 0;
    loop {
        let output = Command::new("mvn")
            .args(["-q", "-B", "dependency:copy-dependencies"])
            .args(["-DincludeScope=runtime", "-DoutputDirectory=libs"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("mvn: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        tries += 1;
        if tries == 3 {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            return Err(format!("mvn could not resolve it: {}", first_error(&text)));
        }
    }
}

fn first_error(text: &str) -> &str {
    text.lines()
        .find(|line| line.contains("ERROR"))
        .unwrap_or("no message")
}

/// Kafka's distribution as a dependency holder: its POMs leave the logging backend out.
fn pom(version: &str) -> String {
    let mut dependencies = String::new();
    for (group, artifact, version) in [
        ("org.apache.kafka", "kafka_2.13", version),
        ("org.apache.kafka", "kafka-server", version),
        ("org.apache.kafka", "kafka-tools", version),
        ("org.apache.logging.log4j", "log4j-core", "2.25.3"),
        ("org.apache.logging.log4j", "log4j-slf4j2-impl", "2.25.3"),
    ] {
        dependencies += &dependency(group, artifact, version);
    }
    format!(
        r#"<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
 <groupId>kdyno</groupId><artifactId>kafka-under-test</artifactId><version>1</version><packaging>pom</packaging>
 <dependencyManagement><dependencies>{}</dependencies></dependencyManagement>
 <dependencies>{dependencies}</dependencies>
</project>"#,
        dependency("org.slf4j", "slf4j-api", "2.0.17"),
    )
}

fn dependency(group: &str, artifact: &str, version: &str) -> String {
    format!(
        "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>\n"
    )
}
