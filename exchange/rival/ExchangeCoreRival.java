// Replays a file of packed commands (see exchange/src/types/packed_command.rs) through exchange-core 0.5.3, without its
// journal, and measures from the intended send time of each command to its result.
//
// Usage: ExchangeCoreRival FILE RATE [WARM-UPS]     RATE in commands per second, 0 for as fast as they are accepted
//
// Prints one line of JSON. Percentiles are in nanoseconds.

import exchange.core2.core.ExchangeApi;
import exchange.core2.core.ExchangeCore;
import exchange.core2.core.common.BalanceAdjustmentType;
import exchange.core2.core.common.CoreSymbolSpecification;
import exchange.core2.core.common.CoreWaitStrategy;
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
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

public final class ExchangeCoreRival {
    private static final int RECORD = 32;
    private static final int NEW = 0, CANCEL = 1, REPLACE = 2, ADD_SYMBOL = 3, ADD_ACCOUNT = 4;
    private static final int BASE = 1, QUOTE = 2;
    /// Enough for every order of a run.
    private static final long CASH = 1L << 55;

    private final ByteBuffer commands;
    private final int first;
    private final int count;
    /// Whether the commands that set up the exchange are done.
    private volatile boolean isMeasuring;
    private final List<Integer> symbols = new ArrayList<>();
    private final List<Long> accounts = new ArrayList<>();

    private ExchangeCoreRival(Path file) throws Exception {
        commands = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int total = commands.capacity() / RECORD;
        int at = 0;
        // The head of the file sets up symbols and accounts.
        for (; at < total && commands.get(at * RECORD) >= ADD_SYMBOL; at++) {
            int kind = commands.get(at * RECORD);
            if (kind == ADD_SYMBOL) symbols.add(commands.getInt(at * RECORD + 4));
            if (kind == ADD_ACCOUNT) accounts.add(Integer.toUnsignedLong(commands.getInt(at * RECORD + 8)));
        }
        first = at;
        count = total - at;
    }

    public static void main(String[] arguments) throws Exception {
        ExchangeCoreRival rival = new ExchangeCoreRival(Path.of(arguments[0]));
        double rate = Double.parseDouble(arguments[1]);
        int warmUps = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 2;
        String line = "";
        for (int round = 0; round <= warmUps; round++) line = rival.run(rate);
        System.out.println(line);
        System.exit(0);
    }

    /// One run on a fresh exchange.
    private String run(double rate) throws Exception {
        Histogram delays = new Histogram(3_600_000_000_000L, 3);
        AtomicLong results = new AtomicLong();
        long[] refused = new long[1];
        ExchangeCore core = ExchangeCore.builder()
                .resultsConsumer((OrderCommand command, long sequence) -> {
                    if (!isMeasuring) return;
                    if (rate > 0) delays.recordValue(Math.max(0, System.nanoTime() - command.timestamp));
                    if (command.resultCode != CommandResultCode.SUCCESS) refused[0]++;
                    results.lazySet(results.get() + 1);
                })
                .exchangeConfiguration(ExchangeConfiguration.builder()
                        .ordersProcessingCfg(OrdersProcessingConfiguration.DEFAULT)
                        .initStateCfg(InitialStateConfiguration.CLEAN_TEST)
                        .performanceCfg(performance(rate))
                        .reportsQueriesCfg(ReportsQueriesConfiguration.DEFAULT)
                        .loggingCfg(LoggingConfiguration.DEFAULT)
                        .serializationCfg(SerializationConfiguration.DEFAULT)
                        .build())
                .build();
        core.startup();
        ExchangeApi api = core.getApi();
        isMeasuring = false;
        setUp(api);
        isMeasuring = true;
        long start = System.nanoTime() + 1_000_000;
        for (int index = 0; index < count; index++) {
            long intended = rate > 0 ? start + (long) (index / rate * 1e9) : start;
            while (System.nanoTime() < intended) Thread.onSpinWait();
            send(api, (first + index) * RECORD, intended);
        }
        while (results.get() < count) Thread.onSpinWait();
        double seconds = (System.nanoTime() - start) / 1e9;
        core.shutdown();
        return String.format("{\"rival\": \"exchange-core 0.5.3\", \"commands\": %d, \"refused\": %d, "
                        + "\"per_second\": %.0f, \"p50\": %d, \"p90\": %d, \"p99\": %d, \"p99.9\": %d, \"p99.99\": %d, "
                        + "\"max\": %d}",
                count, refused[0], count / seconds, delays.getValueAtPercentile(50), delays.getValueAtPercentile(90),
                delays.getValueAtPercentile(99), delays.getValueAtPercentile(99.9),
                delays.getValueAtPercentile(99.99), delays.getMaxValue());
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
                    case 3 -> OrderType.FOK;
                    default -> throw new IllegalArgumentException("exchange-core has no such order");
                };
                long reserve = isBuy ? 2 * price : price;
                api.placeNewOrder(0, 0L, timestamp, order, 1, price, reserve, size,
                        isBuy ? OrderAction.BID : OrderAction.ASK, type, symbol, account);
            }
            case CANCEL -> api.cancelOrder(0, 0L, timestamp, order, symbol, account);
            case REPLACE -> api.moveOrder(0, 0L, timestamp, price, order, symbol, account);
            default -> throw new IllegalArgumentException("a set-up command after the head of the file");
        }
    }
}
