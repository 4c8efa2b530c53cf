//! Amounts against what Kubernetes makes of the same texts, and laws that hold for all of them.

use proptest::prelude::*;

use super::*;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn list(amounts: &[(&str, &str)]) -> ResourceList {
    let amounts = amounts.iter();
    amounts
        .map(|(name, amount)| ((*name).to_owned(), quantity(amount)))
        .collect()
}

#[test]
fn every_form_is_the_number_it_stands_for() {
    for (text, nano) in [
        ("0", 0),
        ("1n", 1),
        ("1u", 1_000),
        ("1m", 1_000_000),
        ("1", 1_000_000_000),
        ("1k", 1_000_000_000_000),
        ("1M", 1_000_000_000_000_000),
        ("1G", 1_000_000_000_000_000_000),
        ("1T", 1_000_000_000_000_000_000_000),
        ("1P", 1_000_000_000_000_000_000_000_000),
        ("1E", 1_000_000_000_000_000_000_000_000_000),
        ("1Ki", 1_024_000_000_000),
        ("1Mi", 1_048_576_000_000_000),
        ("1Gi", 1_073_741_824_000_000_000),
        ("1Ti", 1_099_511_627_776_000_000_000),
        ("1Pi", 1_125_899_906_842_624_000_000_000),
        ("1Ei", 1_152_921_504_606_846_976_000_000_000),
        ("1e3", 1_000_000_000_000),
        ("1E3", 1_000_000_000_000),
        ("1e-3", 1_000_000),
        ("1E+3", 1_000_000_000_000),
        ("0.5", 500_000_000),
        (".5", 500_000_000),
        ("5.", 5_000_000_000),
        ("+1", 1_000_000_000),
        ("-1", -1_000_000_000),
        ("-1.5Gi", -1_610_612_736_000_000_000),
        ("0.5Ki", 512_000_000_000),
        ("0.1Ki", 102_400_000_000),
        ("007", 7_000_000_000),
        ("1e4294967299", 1_000_000_000_000),
        (
            "99999999999999999999",
            99_999_999_999_999_999_999_000_000_000,
        ),
    ] {
        assert_eq!(quantity(text).nano, nano, "{text}");
    }
}

#[test]
fn smaller_parts_than_billionths_are_rounded_up() {
    for (text, nano) in [
        ("0.1n", 1),
        ("-0.1n", -1),
        ("1.1n", 2),
        ("1e-30", 1),
        ("0e-30", 0),
        ("0.0000000001", 1),
        (
            "1.0000000000000000000000000000000000000000001",
            1_000_000_001,
        ),
        ("0.00000000000000001Ki", 1),
    ] {
        assert_eq!(quantity(text).nano, nano, "{text}");
    }
    let long = format!("0.{}1", "0".repeat(100_000));
    assert_eq!(quantity(&long).nano, 1);
    let long = format!("{}1.{}", "0".repeat(100_000), "9".repeat(100_000));
    assert_eq!(quantity(&long).to_string(), "2");
}

#[test]
fn what_can_be_a_zero_is_one() {
    for text in [
        "0",
        "-0",
        "0.0",
        "00",
        "0m",
        "0Ki",
        "0e9999999999",
        "+",
        "-",
        ".",
        "m",
        "Gi",
    ] {
        let zero = quantity(text);
        assert!(
            zero.is_zero() && !zero.is_positive() && !zero.is_negative(),
            "{text}"
        );
        assert_eq!(zero.to_string(), "0", "{text}");
    }
}

#[test]
fn other_texts_are_rejected() {
    for text in [
        "",
        "1.1.M",
        "1+1.0M",
        "0.1mi",
        "0.1am",
        "aoeu",
        ".5i",
        "1i",
        "-3.01i",
        "-3.01e-",
        " 1",
        "1 ",
        "1 Gi",
        "1gi",
        "1K",
        "1e",
        "1e+",
        "e3x",
        "0x1",
        "--1",
        "1e5m",
        "1Mm",
        "1ee3",
        "1e1.5",
        "1e99999999999999999999",
        "½",
        "1µ",
        "１",
    ] {
        assert_eq!(
            Quantity::parse(text).err(),
            Some(InvalidQuantity::Syntax),
            "{text}"
        );
    }
    let long = "9".repeat(100_000);
    for text in [
        "1e30",
        "1e2147483647",
        "1000000000000E",
        "999999999999999999999999999999",
        long.as_str(),
    ] {
        assert_eq!(
            Quantity::parse(text).err(),
            Some(InvalidQuantity::TooLarge),
            "{text}"
        );
    }
}

#[test]
fn binary_amounts_are_capped() {
    let largest = "9223372036854775807";
    for text in [
        "8Ei",
        "9999Ei",
        "9223372036854775808Ki",
        "7.99999999999999999999999Ei",
    ] {
        assert_eq!(quantity(text).to_string(), largest, "{text}");
    }
    let long = format!("{}Ki", "9".repeat(100_000));
    assert_eq!(quantity(&long).to_string(), largest);
    assert_eq!(quantity("-8Ei").to_string(), format!("-{largest}"));
    assert_eq!(quantity("7.5Ei").to_string(), "7680Pi");
}

#[test]
fn amounts_are_printed_as_kubernetes_prints_them() {
    for (text, expected) in [
        ("1", "1"),
        ("1000", "1k"),
        ("1000000", "1M"),
        ("1500", "1500"),
        ("100", "100"),
        ("0.1", "100m"),
        ("1.5", "1500m"),
        ("1.25", "1250m"),
        ("0.001", "1m"),
        ("0.0001", "100u"),
        ("1100m", "1100m"),
        ("1000m", "1"),
        ("1024", "1024"),
        ("1Ki", "1Ki"),
        ("1024Ki", "1Mi"),
        ("1000Ki", "1000Ki"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.0009765625Ki", "1"),
        ("1.1Ki", "1126400m"),
        ("100Mi", "100Mi"),
        ("1048576", "1048576"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("10e3", "10e3"),
        ("1e4", "10e3"),
        ("1000e3", "1e6"),
        ("1e0", "1e0"),
        ("10e0", "10e0"),
        ("1000e0", "1e3"),
        ("1e-3", "1e-3"),
        ("1.5e3", "1500"),
        ("1.5e2", "150"),
        ("12.34e0", "12340e-3"),
        ("1000E", "1000E"),
        ("-1000", "-1k"),
        ("-1.5Gi", "-1536Mi"),
    ] {
        assert_eq!(quantity(text).to_string(), expected, "{text}");
    }
}

/// Kubernetes believes these to be in canonical form.
#[test]
fn some_amounts_are_printed_as_they_were_written() {
    for text in [
        "+1", "007", "1.500", "1.500k", "+7Ki", "007Ki", "1.Ki", "1.", "12E0", "-1", "0001Mi",
        "1.100", "1.5e1",
    ] {
        assert_eq!(quantity(text).to_string(), text);
    }
    for (text, expected) in [
        ("008Ki", "8Ki"),
        ("0.500", "500m"),
        ("1.50", "1500m"),
        ("+1000", "1k"),
        ("01Pi", "1Pi"),
    ] {
        assert_eq!(quantity(text).to_string(), expected);
    }
    // After a calculation the form is the canonical one.
    assert_eq!(quantity("1.500k").plus(&Quantity::ZERO).to_string(), "1500");
    assert_eq!(quantity("1.500k").in_milli().to_string(), "1.500k");
}

#[test]
fn sums_are_printed_in_the_form_of_the_first() {
    for (one, other, sum) in [
        ("1Gi", "1G", "2073741824"),
        ("1Gi", "1Gi", "2Gi"),
        ("0", "1Ki", "1Ki"),
        ("1Ki", "0", "1Ki"),
        ("100m", "900m", "1"),
        ("1e3", "1k", "2e3"),
        ("1k", "1e3", "2k"),
        ("1Ki", "-1Ki", "0"),
    ] {
        assert_eq!(
            quantity(one).plus(&quantity(other)).to_string(),
            sum,
            "{one} + {other}"
        );
    }
    assert_eq!(quantity("2Gi").minus(&quantity("1Gi")).to_string(), "1Gi");
    assert_eq!(quantity("0").minus(&quantity("1Gi")).to_string(), "-1Gi");
}

#[test]
fn huge_sums_stay_huge() {
    let huge = quantity("100000000000E");
    let sum = (0..10).fold(Quantity::ZERO, |sum, _| sum.plus(&huge));
    assert!(sum > huge);
    assert!(sum.whole() > i128::from(i64::MAX));
}

#[test]
fn rounding_goes_away_from_zero() {
    for (text, whole, thousandths) in [
        ("1.0005", 2, 1001),
        ("-1.0005", -2, -1001),
        ("1", 1, 1000),
        ("1n", 1, 1),
        ("0", 0, 0),
    ] {
        let amount = quantity(text);
        assert_eq!(
            (amount.whole(), amount.thousandths()),
            (whole, thousandths),
            "{text}"
        );
    }
    assert_eq!(quantity("1.0005").in_milli().to_string(), "1001m");
    assert_eq!(quantity("1.0005").in_whole().to_string(), "2");
    assert_eq!(quantity("-1.5Ki").in_whole().to_string(), "-1536");
    assert!(quantity("9223372036854775").counts_in_thousandths());
    assert!(!quantity("9223372036854776").counts_in_thousandths());
}

#[test]
fn lists_add_raise_and_print() {
    let mut sum = list(&[("cpu", "100m"), ("memory", "1Gi")]);
    sum.add(&list(&[("cpu", "0.9"), ("pods", "1")]));
    assert_eq!(sum.to_string(), "cpu=1,memory=1Gi,pods=1");
    sum.raise_to(&list(&[("cpu", "500m"), ("memory", "2Gi"), ("x", "0")]));
    assert_eq!(sum.to_string(), "cpu=1,memory=2Gi,pods=1,x=0");
    assert_eq!(sum.without_zeros().to_string(), "cpu=1,memory=2Gi,pods=1");
    assert_eq!(sum.only(|name| name == "cpu").to_string(), "cpu=1");
    assert_eq!(ResourceList::default().to_string(), "");
}

#[test]
fn growth_is_never_negative() {
    let before = list(&[("cpu", "2"), ("memory", "1Gi"), ("gone", "3")]);
    let after = list(&[("cpu", "1"), ("memory", "3Gi"), ("new", "5")]);
    let growth = after.growth_since(&before);
    assert_eq!(growth.to_string(), "cpu=0,gone=0,memory=2Gi,new=5");
}

prop_compose! {
    /// Texts that are amounts, in every form.
    fn texts()(
        sign in prop::sample::select(vec!["", "+", "-"]),
        number in "(0|[0-9]{1,14}|[0-9]{0,8}\\.[0-9]{1,9}|[0-9]{1,8}\\.)",
        suffix in prop::sample::select(vec![
            "", "n", "u", "m", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E5", "e-4", "E+1",
        ]),
    ) -> String {
        format!("{sign}{number}{suffix}")
    }
}

proptest! {
    #[test]
    fn reading_never_panics(text in ".{0,40}") {
        let _ = Quantity::parse(&text);
    }

    #[test]
    fn printing_loses_nothing(text in texts()) {
        let amount = quantity(&text);
        let again = quantity(&amount.to_string());
        prop_assert_eq!(&amount, &again, "{} became {}", text, amount);
        let calculated = amount.plus(&Quantity::ZERO).to_string();
        prop_assert_eq!(&quantity(&calculated), &amount, "{} became {}", text, calculated);
    }

    #[test]
    fn order_is_that_of_the_differences(one in texts(), other in texts()) {
        let (one, other) = (quantity(&one), quantity(&other));
        let difference = one.minus(&other);
        prop_assert_eq!(one > other, difference.is_positive());
        prop_assert_eq!(one == other, difference.is_zero());
        prop_assert_eq!(one < other, difference.is_negative());
        prop_assert_eq!(difference.plus(&other), one);
    }

    #[test]
    fn rounding_is_the_least_that_suffices(text in texts()) {
        let amount = quantity(&text);
        let rounded = amount.clone().in_milli();
        prop_assert_eq!(&rounded.clone().in_milli(), &rounded);
        prop_assert!((rounded.nano - amount.nano).abs() < MILLI);
        prop_assert!(rounded.nano.abs() >= amount.nano.abs());
        prop_assert_eq!(rounded.thousandths() * MILLI, rounded.nano);
    }

    #[test]
    fn growth_covers_the_difference(before in texts(), after in texts()) {
        let growth = list(&[("x", &after)]).growth_since(&list(&[("x", &before)]));
        let growth = growth.get("x").unwrap();
        prop_assert!(!growth.is_negative());
        prop_assert!(quantity(&before).plus(growth) >= quantity(&after));
    }
}
