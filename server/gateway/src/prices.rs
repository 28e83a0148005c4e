//! What tokens cost: a dated table in TOML, bundled and editable. A price that is not there is unknown, and so is what it would give.

use domain::usage::TokenUsage;
use serde::Deserialize;

const BUNDLED: &str = include_str!("../prices.toml");
const PRICED_PER: f64 = 1e6;

/// A price list of many models.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// When the prices were read, `YYYY-MM-DD`.
    pub dated: String,
    /// Such as `USD`.
    pub currency: String,
    /// The models; the first that fits counts.
    #[serde(default, rename = "model")]
    models: Vec<ModelPrice>,
}

/// List prices for a million tokens of each class; `None` = unknown.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// Names that providers know it by. A name also stands for itself with a date at its end, or `-latest`.
    names: Vec<String>,
    /// Prompts up to so many tokens, caches included; `None` = of any length.
    prompt_up_to: Option<u64>,
    input: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    output: Option<f64>,
}

/// A price table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// Not TOML of this form.
    #[error("{file}: not a price table")]
    Form {
        /// The file.
        file: String,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// A price that is no amount.
    #[error("{file}: model '{model}': a price is below 0 or no number; leave out what is not known")]
    Amount {
        /// The file.
        file: String,
        /// Its first name.
        model: String,
    },
}

impl PriceTable {
    /// Reads a table. `file` is only named in errors.
    ///
    /// # Errors
    /// [`PriceError`] with the place.
    pub fn parse(file: &str, text: &str) -> Result<Self, PriceError> {
        let table: Self = toml::from_str(text)
            .map_err(|source| PriceError::Form { file: file.to_owned(), source: Box::new(source) })?;
        for model in &table.models {
            let prices = [model.input, model.cache_read, model.cache_write, model.output];
            if prices.into_iter().flatten().any(|price| !(price.is_finite() && price >= 0.0)) {
                let model = model.names.first().cloned().unwrap_or_default();
                return Err(PriceError::Amount { file: file.to_owned(), model });
            }
        }
        Ok(table)
    }

    /// The bundled table.
    #[must_use]
    pub fn bundled() -> Self {
        // A test reads it, so the empty table is never seen.
        Self::parse("prices.toml", BUNDLED).unwrap_or_default()
    }

    /// Which table it is, to be stored beside every cost: currency and date.
    #[must_use]
    pub fn version(&self) -> String {
        format!("{} {}", self.currency, self.dated)
    }

    /// Whether there is any price for this model.
    #[must_use]
    pub fn knows(&self, model: &str) -> bool {
        self.models.iter().any(|price| price.names(model))
    }

    /// The list price of one call; `None` as soon as a class that takes part in it is unknown, in tokens or price.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &TokenUsage) -> Option<f64> {
        let prompt = usage.input?.saturating_add(usage.cache_read?).saturating_add(usage.cache_write?);
        let price = self.price(model, prompt)?;
        price.classes(usage).into_iter().try_fold(0.0, |sum, (tokens, price)| match (tokens?, price) {
            (0, _) => Some(sum),
            (tokens, price) => Some(sum + tokens as f64 / PRICED_PER * price?),
        })
    }

    /// What the known part of some usage costs at least.
    #[must_use]
    pub fn least_cost(&self, model: &str, usage: &TokenUsage) -> f64 {
        let prompt =
            [usage.input, usage.cache_read, usage.cache_write].into_iter().flatten().fold(0, u64::saturating_add);
        let Some(price) = self.price(model, prompt) else { return 0.0 };
        let known = price.classes(usage).into_iter().filter_map(|(tokens, price)| tokens.zip(price));
        known.map(|(tokens, price)| tokens as f64 / PRICED_PER * price).sum()
    }

    fn price(&self, model: &str, prompt: u64) -> Option<&ModelPrice> {
        self.models.iter().find(|price| price.names(model) && price.prompt_up_to.is_none_or(|most| prompt <= most))
    }
}

impl ModelPrice {
    fn names(&self, model: &str) -> bool {
        self.names.iter().any(|name| model.strip_prefix(name.as_str()).is_some_and(is_dating))
    }

    fn classes(&self, usage: &TokenUsage) -> [(Option<u64>, Option<f64>); 4] {
        [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ]
    }
}

/// Whether the rest of a name only says of when the model is.
fn is_dating(rest: &str) -> bool {
    let date = |text: &str| {
        text.chars().filter(char::is_ascii_digit).count() == 8 && text.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    rest.is_empty() || rest == "-latest" || rest.strip_prefix(['-', '@']).is_some_and(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> PriceTable {
        let text = r#"
            dated = "2025-01-01"
            currency = "USD"
            [[model]]
            names = ["big", "vendor/big"]
            prompt_up_to = 1000
            input = 1.0
            output = 10.0
            [[model]]
            names = ["big"]
            input = 2.0
            cache_read = 0.5
            output = 20.0
        "#;
        PriceTable::parse("test.toml", text).unwrap()
    }

    fn usage(input: u64, cache_read: u64, output: Option<u64>) -> TokenUsage {
        TokenUsage { input: Some(input), cache_read: Some(cache_read), cache_write: Some(0), output }
    }

    #[test]
    fn a_call_costs_what_is_known_or_it_is_unknown() {
        let table = table();
        for (model, usage, cost, least) in [
            ("big", usage(1000, 0, Some(100)), Some(0.002), 0.002),
            ("vendor/big-20250101", usage(1000, 0, Some(100)), Some(0.002), 0.002),
            ("big-2025-01-01", usage(1001, 0, Some(0)), Some(0.002_002), 0.002_002),
            ("big", usage(500, 400, Some(0)), None, 0.000_5),
            ("big", usage(1_000_000, 1_000_000, None), None, 2.5),
            ("bigger", usage(1, 0, Some(1)), None, 0.0),
            ("big-mini", usage(1, 0, Some(1)), None, 0.0),
            ("big", TokenUsage::UNKNOWN, None, 0.0),
        ] {
            let (got, got_least) = (table.cost(model, &usage), table.least_cost(model, &usage));
            assert_eq!(
                got.map(|cost| (cost * 1e9).round()),
                cost.map(|cost: f64| (cost * 1e9).round()),
                "{model} {usage:?}"
            );
            assert!((got_least - least).abs() < 1e-12, "{model} {usage:?}: {got_least}");
        }
        assert_eq!(table.cost("big", &TokenUsage::ZERO), Some(0.0));
        assert_eq!(table.version(), "USD 2025-01-01");
    }

    #[test]
    fn the_bundled_table_is_readable_and_a_wrong_one_is_refused_with_its_place() {
        let bundled = PriceTable::parse("prices.toml", BUNDLED).unwrap();
        assert!(bundled.knows("claude-sonnet-4-5-20250929") && !bundled.knows("scripted"));
        for (text, words) in [
            ("dated = 1", "not a price table"),
            ("dated = \"d\"\ncurrency = \"c\"\n[[model]]\nnames = [\"m\"]\ninput = -1.0", "model 'm'"),
            ("dated = \"d\"\ncurrency = \"c\"\n[[model]]\nnames = [\"m\"]\ninptu = 1.0", "not a price table"),
        ] {
            let error = PriceTable::parse("p.toml", text).unwrap_err().to_string();
            assert!(error.starts_with("p.toml: ") && error.contains(words), "{error}");
        }
    }
}
