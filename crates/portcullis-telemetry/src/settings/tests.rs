//! Variables that are accepted and rejected.

use super::*;

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");

fn read(variables: &[(&str, &str)]) -> Result<Option<Settings>, SettingsError> {
    let find = |name: &str| variables.iter().rfind(|(known, _)| *known == name);
    Settings::read(|name| find(name).map(|(_, value)| (*value).to_owned()))
}

fn url(settings: &SignalSettings) -> String {
    match settings.client.address() {
        Address::Web(web) => web.url(),
        Address::Unix(_) => panic!("a socket"),
    }
}

#[test]
fn without_an_endpoint_there_is_nothing() {
    assert!(read(&[]).unwrap().is_none());
    assert!(
        read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")])
            .unwrap()
            .is_none()
    );
    assert!(
        read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "True")])
            .unwrap()
            .is_none()
    );
    assert!(
        read(&[ENDPOINT, ("OTEL_SDK_DISABLED", "no")])
            .unwrap()
            .is_some()
    );
    let both = [
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_LOGS_EXPORTER", "none"),
    ];
    assert!(read(&[ENDPOINT, both[0], both[1]]).unwrap().is_none());
    assert!(
        read(&[ENDPOINT, both[0]])
            .unwrap()
            .unwrap()
            .traces
            .is_none()
    );
}

#[test]
fn what_is_usual() {
    let settings = read(&[ENDPOINT]).unwrap().unwrap();
    let (traces, logs) = (settings.traces.unwrap(), settings.logs.unwrap());
    assert_eq!(url(&traces), "http://127.0.0.1:4318/v1/traces");
    assert_eq!(url(&logs), "http://127.0.0.1:4318/v1/logs");
    assert_eq!(traces.protocol, Protocol::Http);
    assert_eq!(traces.timeout, Duration::from_secs(10));
    assert_eq!((traces.queue, traces.batch), (2048, 512));
    assert_eq!(settings.sampler, Sampler::default());
    assert_eq!(settings.resource[0].1, "portcullis");
}

#[test]
fn a_variable_for_one_signal_comes_first() {
    let settings = read(&[
        ENDPOINT,
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf"),
        (
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
            "http://other:1/as/it/is?x=1",
        ),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=1"),
        (
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "authorization=Basic%20eA%3D%3D, b = 2,",
        ),
        ("OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "50"),
        ("OTEL_BSP_SCHEDULE_DELAY", "7"),
    ]);
    let settings = settings.unwrap().unwrap();
    let (traces, logs) = (settings.traces.unwrap(), settings.logs.unwrap());
    let method = Signal::Traces.method();
    assert_eq!(url(&traces), format!("http://127.0.0.1:4318{method}"));
    assert_eq!(url(&logs), "http://other:1/as/it/is?x=1");
    assert_eq!(traces.headers[0].1, "Basic eA==");
    assert!(traces.headers[0].1.is_sensitive());
    assert_eq!((traces.headers.len(), logs.headers.len()), (2, 1));
    assert_eq!(logs.timeout, Duration::from_millis(50));
    assert_eq!(traces.delay, Duration::from_millis(7));
    let only = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1");
    assert!(read(&[only]).unwrap().unwrap().logs.is_none());
}

#[test]
fn a_base_may_have_a_path() {
    let plain = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://[::1]/otlp/?a=b");
    let traces = read(&[plain]).unwrap().unwrap().traces.unwrap();
    assert_eq!(url(&traces), "http://[::1]/otlp/v1/traces");
}

#[test]
fn who_sends() {
    let settings = read(&[
        ENDPOINT,
        (
            "OTEL_RESOURCE_ATTRIBUTES",
            "service.name=a,k8s.pod.name=gate%2C1",
        ),
        ("OTEL_SERVICE_NAME", "gate"),
    ]);
    let resource = settings.unwrap().unwrap().resource;
    assert_eq!(resource[0], ("service.name".into(), "gate".into()));
    assert_eq!(resource[5], ("k8s.pod.name".into(), "gate,1".into()));
}

#[test]
fn what_can_not_be_followed_is_named_but_not_repeated() {
    for (variable, value) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:s3cret@x"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "s3cret"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x:s3cret"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///s3cret"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "s3cret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%0a"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%f"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_TRACES_SAMPLER", "s3cret"),
        ("OTEL_RESOURCE_ATTRIBUTES", "s3cret"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "-1"),
    ] {
        let error = read(&[ENDPOINT, (variable, value)])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(&format!("{variable}: ")), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
    let missing = ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/does/not/exist");
    let secure = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://x");
    let error = read(&[secure, missing]).unwrap_err().to_string();
    assert!(error.starts_with("OTEL_EXPORTER_OTLP_CERTIFICATE: /does/not/exist"));
    assert!(read(&[ENDPOINT, missing]).unwrap().is_some());
    let half = ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/does/not/exist");
    assert!(read(&[secure, half]).is_err());
}
