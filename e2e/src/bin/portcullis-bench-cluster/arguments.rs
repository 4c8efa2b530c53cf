//! The arguments of the benchmark.

/// How much is measured.
pub(crate) struct Arguments {
    /// Rounds that count.
    pub(crate) rounds: usize,
    /// Pods of each way in a round, by one client and by all.
    pub(crate) pods: usize,
    /// Clients that create pods at the same time.
    pub(crate) clients: usize,
}

impl Arguments {
    /// Reads `--rounds N`, `--pods N` and `--clients N`.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            rounds: 9,
            pods: 400,
            clients: 8,
        };
        while let Some(word) = words.next() {
            let target = match word.as_str() {
                "--rounds" => &mut arguments.rounds,
                "--pods" => &mut arguments.pods,
                "--clients" => &mut arguments.clients,
                other => return Err(format!("unknown argument `{other}`")),
            };
            let value = words.next().and_then(|value| value.parse().ok());
            *target = value
                .filter(|value| *value > 0)
                .ok_or_else(|| format!("`{word}` needs a positive number"))?;
        }
        Ok(arguments)
    }
}
