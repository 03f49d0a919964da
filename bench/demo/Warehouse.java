import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A warehouse that answers orders. It has a leak and a churn: each order leaves a Session in a table from which nobody
 * takes it, and each answer is put together of many a short-lived Line. Argument: seconds.
 */
public final class Warehouse {
    static final class Session {
        final long order;
        final byte[] answer = new byte[200];

        Session(long order) {
            this.order = order;
        }
    }

    static final class Line {
        final long article, price;
        final Line next;

        Line(long article, long price, Line next) {
            this.article = article;
            this.price = price;
            this.next = next;
        }
    }

    /** The leak. */
    static final class Sessions {
        private final Map<Long, Session> open = new HashMap<>();

        Session open(long order) {
            Session session = new Session(order);
            open.put(order, session);
            return session;
        }
    }

    /** The churn. */
    static final class Bill {
        static long total(long order) {
            Line lines = null;
            for (int i = 0; i < 400; i++) {
                lines = new Line(order + i, i * 7 % 100, lines);
            }
            long sum = 0;
            for (Line line = lines; line != null; line = line.next) {
                sum += line.price;
            }
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000;
        Sessions sessions = new Sessions();
        List<Long> recent = new ArrayList<>();
        System.out.println("A warehouse answers orders. Its heap grows: what does it keep, and what makes the collector work?");
        for (long order = 0; System.nanoTime() < until; order++) {
            sessions.open(order);
            recent.add(Bill.total(order));
            if (recent.size() > 100) {
                recent.clear();
            }
            if (order % 20 == 0) {
                Thread.sleep(1);
            }
        }
    }
}
