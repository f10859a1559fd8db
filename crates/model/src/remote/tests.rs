use super::*;

#[test]
fn a_price_counts_what_was_cached_apart() {
    let price =
        Price { input: 3.0, output: 15.0, cached_input: Some(0.3), cache_write: Some(3.75) };
    let tokens = Tokens { input: 1_000, cached: 600, cache_written: 100, output: 50 };
    let expected = (300.0 * 3.0 + 600.0 * 0.3 + 100.0 * 3.75 + 50.0 * 15.0) / 1e6;
    assert!((price.cost(tokens) - expected).abs() < 1e-12);
    let plain = Price { cached_input: None, cache_write: None, ..price };
    assert!((plain.cost(tokens) - (1_000.0 * 3.0 + 750.0) / 1e6).abs() < 1e-12);
}
