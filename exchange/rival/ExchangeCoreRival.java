// Replays a file of packed commands (see exchange/src/types/packed_command.rs) through exchange-core 0.5.3, without its
// journal, and measures from the intended send time of each command to its result.
//
// Usage: ExchangeCoreRival FILE COMMANDS RATE [WARM-UPS]
//
// The last COMMANDS of FILE are measured; those before them prepare the exchange. RATE is in commands per second, and 0
// is as fast as they are accepted. Warm-ups send as fast as that.
//
// Prints one line of JSON. Percentiles are in nanoseconds.

import exchange.core2.core.ExchangeApi;
import exchange.core2.core.ExchangeCore;
import exchange.core2.core.common.BalanceAdjustmentType;
import exchange.core2.core.common.CoreSymbolSpecification;
import exchange.core2.core.common.CoreWaitStrategy;
import exchange.core2.core.common.MatcherEventType;
import exchange.core2.core.common.MatcherTradeEvent;
import exchange.core2.core.common.OrderAction;
import exchange.core2.core.common.OrderType;
import exchange.core2.core.common.SymbolType;
import exchange.core2.core.common.api.ApiAddUser;
import exchange.core2.core.common.api.ApiAdjustUserBalance;
import exchange.core2.core.common.api.binary.BatchAddSymbolsCommand;
import exchange.core2.core.common.cmd.CommandResultCode;
import exchange.core2.core.common.cmd.OrderCommand;
import exchange.core2.core.common.config.ExchangeConfiguration;
import exchange.core2.core.common.config.InitialStateConfiguration;
import exchange.core2.core.common.config.LoggingConfiguration;
import exchange.core2.core.common.config.OrdersProcessingConfiguration;
import exchange.core2.core.common.config.PerformanceConfiguration;
import exchange.core2.core.common.config.ReportsQueriesConfiguration;
import exchange.core2.core.common.config.SerializationConfiguration;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;

public final class ExchangeCoreRival {
    private static final int RECORD = 32;
    private static final int NEW = 0, CANCEL = 1, REPLACE = 2, ADD_SYMBOL = 3, ADD_ACCOUNT = 4;
    private static final int BASE = 1, QUOTE = 2;
    /// Enough for every order of a run.
    private static final long CASH = 1L << 55;

    private final ByteBuffer commands;
    /// The first command that is neither a symbol nor an account, and the first that is measured.
    private final int first, firstMeasured;
    private final int total;
    private final List<Integer> symbols = new ArrayList<>();
    private final List<Long> accounts = new ArrayList<>();

    private ExchangeCoreRival(Path file, int measured) throws Exception {
        commands = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        total = commands.capacity() / RECORD;
        int at = 0;
        for (; at < total && commands.get(at * RECORD) >= ADD_SYMBOL; at++) {
            int kind = commands.get(at * RECORD);
            if (kind == ADD_SYMBOL) symbols.add(commands.getInt(at * RECORD + 4));
            if (kind == ADD_ACCOUNT) accounts.add(Integer.toUnsignedLong(commands.getInt(at * RECORD + 8)));
        }
        first = at;
        firstMeasured = total - measured;
        if (measured < 1 || firstMeasured < first) {
            throw new IllegalArgumentException(
                    "COMMANDS must be in 1..=" + (total - first) + ": found " + measured);
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExchangeCoreRival rival = new ExchangeCoreRival(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
        double rate = Double.parseDouble(arguments[2]);
        int warmUps = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 2;
        PerformanceConfiguration performance = performance(rate);
        for (int round = 0; round < warmUps; round++) rival.run(performance, 0);
        System.out.println(rival.run(performance, rate));
        System.exit(0);
    }

    /// The answers to the commands that are measured. Written by one thread of the exchange.
    private static final class Answers {
        final Histogram delays = new Histogram(3_600_000_000_000L, 3);
        /// How many commands have an answer, also of those that are not measured.
        final AtomicLong answered = new AtomicLong();
        volatile boolean isMeasuring;
        final Map<CommandResultCode, Long> refused = new EnumMap<>(CommandResultCode.class);
        long trades, traded;

        void add(OrderCommand command) {
            if (isMeasuring) {
                delays.recordValue(Math.max(0, System.nanoTime() - command.timestamp));
                for (MatcherTradeEvent event = command.matcherEvent; event != null; event = event.nextEvent) {
                    if (event.eventType != MatcherEventType.TRADE) continue;
                    trades++;
                    traded += event.size;
                }
            }
            if (command.resultCode != CommandResultCode.SUCCESS) refused.merge(command.resultCode, 1L, Long::sum);
            answered.lazySet(answered.get() + 1);
        }

        void await(long count) {
            while (answered.get() < count) Thread.onSpinWait();
        }
    }

    /// One run on a fresh exchange.
    private String run(PerformanceConfiguration performance, double rate) throws Exception {
        AtomicReference<Answers> receiver = new AtomicReference<>();
        ExchangeCore core = ExchangeCore.builder()
                .resultsConsumer((OrderCommand command, long sequence) -> {
                    Answers answers = receiver.getPlain();
                    if (answers != null) answers.add(command);
                })
                .exchangeConfiguration(ExchangeConfiguration.builder()
                        .ordersProcessingCfg(OrdersProcessingConfiguration.DEFAULT)
                        .initStateCfg(InitialStateConfiguration.CLEAN_TEST)
                        .performanceCfg(performance)
                        .reportsQueriesCfg(ReportsQueriesConfiguration.DEFAULT)
                        .loggingCfg(LoggingConfiguration.DEFAULT)
                        .serializationCfg(SerializationConfiguration.DEFAULT)
                        .build())
                .build();
        core.startup();
        ExchangeApi api = core.getApi();
        setUp(api);
        Answers answers = new Answers();
        // The ring carries it to the thread that reads it, with the next command.
        receiver.set(answers);
        int prepared = firstMeasured - first, count = total - firstMeasured;
        for (int index = first; index < firstMeasured; index++) send(api, index * RECORD, 0);
        answers.await(prepared);
        answers.isMeasuring = true;
        Thread.sleep(100); // the stages wait, as in `exchange bench`
        long start = System.nanoTime();
        for (int index = 0; index < count; index++) {
            long intended = rate > 0 ? start + (long) (index / rate * 1e9) : start;
            while (System.nanoTime() < intended) Thread.onSpinWait();
            send(api, (firstMeasured + index) * RECORD, intended);
        }
        answers.await(prepared + count);
        double seconds = (System.nanoTime() - start) / 1e9;
        receiver.set(null);
        core.shutdown();
        return json(answers, count, seconds);
    }

    private static String json(Answers answers, int commands, double seconds) {
        StringBuilder codes = new StringBuilder();
        long refused = 0;
        for (Map.Entry<CommandResultCode, Long> code : answers.refused.entrySet()) {
            codes.append(refused > 0 ? ", " : "").append(String.format("\"%s\": %d", code.getKey(), code.getValue()));
            refused += code.getValue();
        }
        Histogram delays = answers.delays;
        return String.format("{\"exchange\": \"exchange-core 0.5.3\", \"journal\": false, \"commands\": %d, "
                        + "\"refused\": %d, \"codes\": {%s}, \"trades\": %d, \"traded\": %d, \"per_second\": %.0f, "
                        + "\"p50\": %d, \"p90\": %d, \"p99\": %d, \"p99.9\": %d, \"p99.99\": %d, \"max\": %d}",
                commands, refused, codes, answers.trades, answers.traded, commands / seconds,
                delays.getValueAtPercentile(50), delays.getValueAtPercentile(90), delays.getValueAtPercentile(99),
                delays.getValueAtPercentile(99.9), delays.getValueAtPercentile(99.99), delays.getMaxValue());
    }

    /// One engine of each kind: more than two CPUs are not assumed.
    private static PerformanceConfiguration performance(double rate) {
        var builder = rate > 0
                ? PerformanceConfiguration.latencyPerformanceBuilder()
                : PerformanceConfiguration.throughputPerformanceBuilder();
        return builder.matchingEnginesNum(1).riskEnginesNum(1).ringBufferSize(64 * 1024)
                .threadFactory(Thread::new)
                .waitStrategy(CoreWaitStrategy.valueOf(System.getProperty("wait", "YIELDING"))).build();
    }

    private void setUp(ExchangeApi api) throws Exception {
        List<CoreSymbolSpecification> specs = new ArrayList<>();
        for (int symbol : symbols) {
            specs.add(CoreSymbolSpecification.builder().symbolId(symbol).type(SymbolType.CURRENCY_EXCHANGE_PAIR)
                    .baseCurrency(BASE).quoteCurrency(QUOTE).baseScaleK(1).quoteScaleK(1).makerFee(0).takerFee(0)
                    .build());
        }
        api.submitBinaryDataAsync(new BatchAddSymbolsCommand(specs)).get();
        for (long account : accounts) {
            api.submitCommandAsync(ApiAddUser.builder().uid(account).build()).get();
            for (int currency : new int[] {BASE, QUOTE}) {
                api.submitCommandAsync(ApiAdjustUserBalance.builder().uid(account).currency(currency).amount(CASH)
                        .transactionId(currency).build()).get();
            }
        }
    }

    private void send(ExchangeApi api, int at, long timestamp) {
        int symbol = commands.getInt(at + 4);
        long account = Integer.toUnsignedLong(commands.getInt(at + 8));
        long price = Integer.toUnsignedLong(commands.getInt(at + 12));
        // Ids are unique to an account here, and to a book there.
        long order = account << 40 | commands.getLong(at + 16);
        switch (commands.get(at)) {
            case NEW -> {
                boolean isBuy = commands.get(at + 1) == 0;
                long size = Integer.toUnsignedLong(commands.getInt(at + 24));
                OrderType type = switch (commands.get(at + 2)) {
                    case 0 -> OrderType.GTC;
                    case 2 -> OrderType.IOC;
                    case 3 -> OrderType.FOK_BUDGET;
                    default -> throw new IllegalArgumentException("exchange-core has no such order");
                };
                // exchange-core ignores FOK. A budget that allows the limit for each lot is the same.
                if (type == OrderType.FOK_BUDGET) price *= size;
                // The most that the order may be moved to.
                long reserve = isBuy && type == OrderType.GTC ? 2 * price : price;
                api.placeNewOrder(0, 0L, timestamp, order, 1, price, reserve, size,
                        isBuy ? OrderAction.BID : OrderAction.ASK, type, symbol, account);
            }
            case CANCEL -> api.cancelOrder(0, 0L, timestamp, order, symbol, account);
            case REPLACE -> api.moveOrder(0, 0L, timestamp, price, order, symbol, account);
            default -> throw new IllegalArgumentException("a set-up command after the head of the file");
        }
    }
}
