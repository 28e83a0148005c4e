//! Test reports in JUnit's XML, as pytest, Maven, Gradle, gotestsum, nextest, jest and others write them.

use domain::test_case::{TestCase, TestStatus};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::ctrf::{MAX_BYTES, MAX_MESSAGE, MAX_NAME, MAX_TESTS, milliseconds};
use super::text::head;

/// A report that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JunitError {
    /// No XML.
    #[error("it is no valid XML: {0}")]
    Xml(#[from] quick_xml::Error),
    /// XML without a `testsuite`.
    #[error("it has no `testsuite`")]
    Shape,
    /// Larger than [`MAX_BYTES`].
    #[error("it has {0} bytes, more than {MAX_BYTES}")]
    TooLarge(usize),
}

/// The test cases of one report. Entities that a document declares for itself are not expanded.
///
/// # Errors
/// [`JunitError`] where it is no such report.
pub fn read_junit(bytes: &[u8]) -> Result<Vec<TestCase>, JunitError> {
    if bytes.len() > MAX_BYTES {
        return Err(JunitError::TooLarge(bytes.len()));
    }
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let mut suite = false;
    let mut tests: Vec<TestCase> = Vec::new();
    let mut open = false;
    loop {
        match reader.read_event()? {
            Event::Eof => break,
            Event::Start(tag) => match tag.local_name().as_ref() {
                "testsuite" | "testsuites" => suite = true,
                "testcase" => {
                    tests.push(case(&tag));
                    open = true;
                }
                other if open => outcome(other, &tag, &mut tests),
                _ => {}
            },
            Event::Empty(tag) => match tag.local_name().as_ref() {
                "testsuite" | "testsuites" => suite = true,
                "testcase" => tests.push(case(&tag)),
                other if open => outcome(other, &tag, &mut tests),
                _ => {}
            },
            Event::Text(text) if open => uncollected(&text.xml10_content(), &mut tests),
            Event::End(tag) if tag.local_name().as_ref() == "testcase" => open = false,
            _ => {}
        }
        if tests.len() >= MAX_TESTS && !open {
            break;
        }
    }
    if suite { Ok(tests) } else { Err(JunitError::Shape) }
}

fn case(tag: &BytesStart<'_>) -> TestCase {
    let name = value(tag, "name").unwrap_or_default();
    let name = match value(tag, "classname").filter(|class| !class.is_empty()) {
        Some(class) if !name.is_empty() => format!("{class}::{name}"),
        Some(class) => class,
        None if name.is_empty() => "(without a name)".to_owned(),
        None => name,
    };
    let seconds = value(tag, "time").and_then(|time| time.replace(',', "").parse::<f64>().ok());
    TestCase {
        name: head(&name, MAX_NAME),
        status: TestStatus::Passed,
        duration_ms: seconds.and_then(|seconds| milliseconds(seconds * 1000.0)),
        message: None,
    }
}

/// What stands inside a test case says how it ended; the first word counts.
fn outcome(element: &str, tag: &BytesStart<'_>, tests: &mut [TestCase]) {
    let Some(test) = tests.last_mut().filter(|test| test.status == TestStatus::Passed) else { return };
    let message = value(tag, "message").unwrap_or_default();
    test.status = match element {
        // Pytest's word for a file that it could not even read.
        "error" if message.contains("collection failure") => TestStatus::Other,
        "failure" | "error" => TestStatus::Failed,
        "skipped" => TestStatus::Skipped,
        _ => return,
    };
    test.message = (!message.is_empty()).then(|| head(&message, MAX_MESSAGE));
}

/// Why a file could not be read stands in the text alone.
fn uncollected(text: &str, tests: &mut [TestCase]) {
    let Some(test) = tests.last_mut().filter(|test| test.status == TestStatus::Other) else { return };
    let cause = text.lines().find_map(|line| line.strip_prefix("E ")).map(str::trim);
    if let Some(cause) = cause {
        test.message = Some(head(cause, MAX_MESSAGE));
    }
}

fn value(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.attributes().with_checks(false).flatten().find(|attribute| attribute.key.as_ref() == name)?;
    // A value with an entity of its own is shown as it is written.
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    Some(value.map_or_else(|_| attribute.value.to_string(), std::borrow::Cow::into_owned))
}
