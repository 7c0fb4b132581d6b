//! The line protocol: a command a line, in words, and a line for each report.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::str::{self, FromStr, SplitWhitespace};

use super::secrets::{Login, SecretError};
use super::wire::Answer;
use crate::types::{
    AccountId, Cancel, Cause, Command, Deposit, Limits, NewOrder, OrderId, OrderKind, OrderState,
    Replace, Report, Request, Resting, SelfTrade, Side, SymbolId, SymbolSpec,
};

/// The longest line, in bytes. A longer one ends the session.
const LONGEST_LINE: u64 = 512;

/// The answer to `help`.
pub const HELP: &str = "\
buy QUANTITY at PRICE SYMBOL ACCOUNT ORDER [post-only|ioc|fok]
sell QUANTITY at PRICE SYMBOL ACCOUNT ORDER [post-only|ioc|fok]
buy QUANTITY at market SYMBOL ACCOUNT ORDER
sell QUANTITY at market SYMBOL ACCOUNT ORDER
replace QUANTITY at PRICE SYMBOL ACCOUNT ORDER [post-only]
cancel SYMBOL ACCOUNT ORDER
symbol SYMBOL LOWEST-PRICE HIGHEST-PRICE MAX-ORDERS
account ACCOUNT
deposit AMOUNT ACCOUNT
limits MAX-QUANTITY MAX-LONG MAX-SHORT MAX-NOTIONAL ACCOUNT
cancel-on-disconnect
login ACCOUNT|operator SECRET
Words in capitals are integers. ORDER is an ID of your choice, greater than your previous one.
The last two come before all commands. After cancel-on-disconnect, the open orders of the session are cancelled when it ends.
An answer to a wrong line has its number. An empty line shows that you are there.
";

/// The answer to `cancel-on-disconnect`.
pub(super) const CANCELS: &str = "open orders of this session are cancelled when it ends\n";

/// What a line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// It is empty.
    Nothing,
    /// The client asks for help.
    Help,
    /// The open orders of the session are cancelled when it ends.
    CancelOnDisconnect,
    /// The client logs in.
    Login(Login),
    /// A command.
    Command(Command),
}

/// Why a line is not a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineError {
    /// It begins with an unknown word.
    Unknown(String),
    /// A word is missing.
    Missing(&'static str),
    /// A word is not what it should be.
    Word {
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// There are words after the command.
    Rest(String),
    /// The line is not UTF-8.
    NotText,
    /// The option, or the login, comes after a command.
    Late,
    /// A command comes before the login.
    NoLogin,
    /// The words of a login have no meaning.
    Secret(SecretError),
    /// The line is longer than 512 bytes. This ends the session.
    TooLong,
    /// The connection has ended within the line. It is not carried out: its end may be missing.
    Unfinished,
}

impl LineError {
    /// Whether no other line can follow.
    pub(super) fn ends_session(&self) -> bool {
        matches!(self, Self::TooLong | Self::Unfinished)
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => write!(f, "no command begins with {word:?}; try help"),
            Self::Missing(word) => write!(f, "the line ends before {word}"),
            Self::Word { expected, found } => write!(f, "{expected} expected: found={found:?}"),
            Self::Rest(word) => write!(f, "the command ends before {word:?}"),
            Self::NotText => f.write_str("the line is not UTF-8"),
            Self::Late => f.write_str("this line must come before the first command"),
            Self::NoLogin => f.write_str("this exchange has secrets: login comes first"),
            Self::Secret(error) => error.fmt(f),
            Self::TooLong => write!(f, "the line is longer than {LONGEST_LINE} bytes"),
            Self::Unfinished => f.write_str("the connection has ended within the line"),
        }
    }
}

impl Error for LineError {}

crate::errors::from!(LineError: SecretError => Secret);

/// Reads the next line into `bytes`. Returns what it means, and `None` at the end of the stream.
pub(super) fn read_line(
    reader: &mut impl BufRead,
    bytes: &mut Vec<u8>,
) -> io::Result<Option<Result<Line, LineError>>> {
    bytes.clear();
    let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', bytes)?;
    if read == 0 {
        return Ok(None);
    }
    Ok(Some(match bytes.strip_suffix(b"\n") {
        Some(line) => str::from_utf8(line).map_err(|_| LineError::NotText).and_then(parse),
        None if read as u64 == LONGEST_LINE => Err(LineError::TooLong),
        None => Err(LineError::Unfinished),
    }))
}

/// Returns what a line means.
///
/// ```
/// use exchange::gateway::text::{Line, parse};
/// use exchange::types::{AccountId, Cancel, Command, OrderId, SymbolId};
///
/// let cancel = Cancel { symbol: SymbolId(1), account: AccountId(2), order: OrderId(3) };
/// assert_eq!(parse("cancel 1 2 3"), Ok(Line::Command(Command::Cancel(cancel))));
/// assert_eq!(parse("cancel 1 2").unwrap_err().to_string(), "the line ends before ORDER");
/// ```
///
/// # Errors
///
/// [`LineError`] names the first word that is wrong or missing.
pub fn parse(line: &str) -> Result<Line, LineError> {
    let mut words = Words(line.split_whitespace());
    let Some(word) = words.0.next() else { return Ok(Line::Nothing) };
    let line = match word {
        "help" => Line::Help,
        "cancel-on-disconnect" => Line::CancelOnDisconnect,
        "login" => {
            let (actor, secret) = (words.word("ACCOUNT or operator")?, words.word("SECRET")?);
            Line::Login(Login { actor: actor.parse()?, secret: secret.parse()? })
        }
        "buy" => Line::Command(words.new_order(Side::Buy)?),
        "sell" => Line::Command(words.new_order(Side::Sell)?),
        "replace" => Line::Command(words.replace()?),
        "cancel" => {
            let (symbol, account, order) = words.names()?;
            Line::Command(Command::Cancel(Cancel { account, order, symbol }))
        }
        "symbol" => Line::Command(words.symbol()?),
        "account" => Line::Command(Command::AddAccount(words.account()?)),
        "deposit" => {
            let amount = words.number("AMOUNT")?;
            Line::Command(Command::Deposit(Deposit { account: words.account()?, amount }))
        }
        "limits" => Line::Command(words.limits()?),
        _ => return Err(LineError::Unknown(word.to_owned())),
    };
    match words.0.next() {
        Some(rest) => Err(LineError::Rest(rest.to_owned())),
        None => Ok(line),
    }
}

/// The words of a line that are left.
struct Words<'a>(SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn word(&mut self, expected: &'static str) -> Result<&'a str, LineError> {
        self.0.next().ok_or(LineError::Missing(expected))
    }

    fn number<T: FromStr>(&mut self, expected: &'static str) -> Result<T, LineError> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| LineError::Word { expected, found: word.to_owned() })
    }

    fn account(&mut self) -> Result<AccountId, LineError> {
        Ok(AccountId(self.number("ACCOUNT")?))
    }

    fn names(&mut self) -> Result<(SymbolId, AccountId, OrderId), LineError> {
        let symbol = SymbolId(self.number("SYMBOL")?);
        Ok((symbol, self.account()?, OrderId(self.number("ORDER")?)))
    }

    fn at(&mut self) -> Result<(), LineError> {
        match self.word("at")? {
            "at" => Ok(()),
            found => Err(LineError::Word { expected: "at", found: found.to_owned() }),
        }
    }

    fn new_order(&mut self, side: Side) -> Result<Command, LineError> {
        let quantity = self.number("QUANTITY")?;
        self.at()?;
        let is_market = self.0.clone().next() == Some("market");
        let price = if is_market { 0 } else { self.number("PRICE or market")? };
        if is_market {
            self.0.next();
        }
        let (symbol, account, order) = self.names()?;
        let kind = if is_market { OrderKind::Market } else { self.kind()? };
        let self_trade = SelfTrade::CancelNewest;
        let new = NewOrder { account, order, symbol, side, kind, self_trade, price, quantity };
        Ok(Command::New(new))
    }

    fn kind(&mut self) -> Result<OrderKind, LineError> {
        match self.0.next() {
            None => Ok(OrderKind::Limit),
            Some("post-only") => Ok(OrderKind::PostOnly),
            Some("ioc") => Ok(OrderKind::ImmediateOrCancel),
            Some("fok") => Ok(OrderKind::FillOrKill),
            Some(found) => {
                Err(LineError::Word { expected: "post-only, ioc or fok", found: found.to_owned() })
            }
        }
    }

    fn replace(&mut self) -> Result<Command, LineError> {
        let quantity = self.number("QUANTITY")?;
        self.at()?;
        let price = self.number("PRICE")?;
        let (symbol, account, order) = self.names()?;
        let kind = match self.0.next() {
            None => Resting::Limit,
            Some("post-only") => Resting::PostOnly,
            Some(found) => {
                return Err(LineError::Word { expected: "post-only", found: found.to_owned() });
            }
        };
        let self_trade = SelfTrade::CancelNewest;
        Ok(Command::Replace(Replace { account, order, symbol, kind, self_trade, price, quantity }))
    }

    fn symbol(&mut self) -> Result<Command, LineError> {
        Ok(Command::AddSymbol(SymbolSpec {
            symbol: SymbolId(self.number("SYMBOL")?),
            lowest: self.number("LOWEST-PRICE")?,
            highest: self.number("HIGHEST-PRICE")?,
            max_orders: self.number("MOST-ORDERS")?,
        }))
    }

    fn limits(&mut self) -> Result<Command, LineError> {
        let limits = Limits {
            max_order: self.number("MOST-QUANTITY")?,
            max_long: self.number("MOST-LONG")?,
            max_short: self.number("MOST-SHORT")?,
            max_open_notional: self.number("MOST-NOTIONAL")?,
        };
        Ok(Command::SetLimits(self.account()?, limits))
    }
}

/// Encodes an answer as a line.
pub(super) fn encode(answer: &Answer, bytes: &mut Vec<u8>) {
    // Writing to a vector does not fail.
    let _ = match answer.report.unpack() {
        Ok(report) => writeln!(bytes, "{}", Told(&report)),
        Err(error) => writeln!(bytes, "error: {error}"),
    };
}

/// A report in words.
struct Told<'a>(&'a Report);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Report::Accepted(order) => write!(f, "accepted {}", Terms(order)),
            Report::Rejected { reason, .. } => write!(f, "rejected {}: {reason}", Asked(self.0)),
            Report::Trade(trade) => write!(
                f,
                "trade {} at {} of symbol {}: {} order {} of account {}, with order {} of account {}",
                trade.quantity,
                trade.price,
                trade.symbol.0,
                side(trade.taker_side),
                trade.taker.order.0,
                trade.taker.account.0,
                trade.maker.order.0,
                trade.maker.account.0,
            ),
            Report::Cancelled(order, why) => {
                write!(f, "cancelled {}: {}", Terms(order), cause(*why))
            }
            Report::Replaced { new, .. } => write!(f, "replaced {}", Terms(new)),
            Report::Reduced(order, why) => {
                write!(f, "reduced by {}: {}", Terms(order), cause(*why))
            }
            Report::Level(level) => write!(
                f,
                "level {} {} at {} in {} orders of symbol {}",
                side(level.side),
                level.quantity,
                level.price,
                level.orders,
                level.symbol.0,
            ),
            Report::SymbolAdded(spec) => write!(f, "added symbol {}", spec.symbol.0),
            Report::AccountAdded(account) => write!(f, "added account {}", account.0),
            Report::Deposited(deposit) => {
                write!(f, "deposited {} to account {}", deposit.amount, deposit.account.0)
            }
            Report::LimitsSet(account, _) => write!(f, "set limits of account {}", account.0),
            Report::MemorySet(limit) => write!(f, "set memory to {limit} MiB"),
        }
    }
}

/// What a rejected command was about, in words.
struct Asked<'a>(&'a Report);

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report::Rejected { request, order, account, symbol, .. } = self.0 else {
            return Ok(());
        };
        let account = account.0;
        match request {
            Request::New | Request::Cancel | Request::Replace => {
                write!(f, "order {} of account {account}", order.0)
            }
            Request::AddSymbol => write!(f, "symbol {}", symbol.0),
            Request::AddAccount => write!(f, "account {account}"),
            Request::Deposit => write!(f, "deposit to account {account}"),
            Request::SetLimits => write!(f, "limits of account {account}"),
            Request::SetMemory => f.write_str("memory"),
        }
    }
}

/// An order in words.
struct Terms<'a>(&'a OrderState);

impl fmt::Display for Terms<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OrderState { id, symbol, side: of, price, open } = self.0;
        let (side, symbol) = (side(*of), symbol.0);
        write!(f, "{side} {open} at {price} {symbol} {} {}", id.account.0, id.order.0)
    }
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    }
}

fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Requested => "requested",
        Cause::Unfilled => "unfilled",
        Cause::SelfTrade => "it met an order of its own account",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_help_is_a_command() {
        let numbers = [
            "buy 5 at 10 1 2 3 ioc",
            "sell 5 at 10 1 2 3",
            "buy 5 at market 1 2 3",
            "sell 5 at market 1 2 3",
            "replace 5 at 10 1 2 3 post-only",
            "cancel 1 2 3",
            "symbol 1 1 1000 100",
            "account 2",
            "deposit -5 2",
            "limits 10 20 30 40 2",
        ];
        for (line, help) in numbers.iter().zip(HELP.lines()) {
            assert_eq!(line.split(' ').next(), help.split(' ').next());
            let Ok(Line::Command(command)) = parse(line) else { panic!("{line}") };
            assert_eq!(command.to_string(), *line);
        }
        assert_eq!(HELP.lines().nth(numbers.len()), Some("cancel-on-disconnect"));
        assert_eq!(parse("cancel-on-disconnect"), Ok(Line::CancelOnDisconnect));
    }

    #[test]
    fn a_wrong_line_says_what_is_wrong() {
        for (line, error) in [
            ("bye", "no command begins with \"bye\"; try help"),
            ("buy", "the line ends before QUANTITY"),
            ("buy x", "QUANTITY expected: found=\"x\""),
            ("buy 5 for", "at expected: found=\"for\""),
            ("buy 5 at", "the line ends before PRICE or market"),
            ("buy 5 at 10 1 2 3 now", "post-only, ioc or fok expected: found=\"now\""),
            ("cancel 1 2 3 4", "the command ends before \"4\""),
            ("account -1", "ACCOUNT expected: found=\"-1\""),
        ] {
            assert_eq!(parse(line).unwrap_err().to_string(), error);
        }
        assert_eq!(parse("  \n"), Ok(Line::Nothing));
    }
}
