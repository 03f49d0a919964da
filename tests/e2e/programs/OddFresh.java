/** What Odd loads anew, again and again. */
public class OddFresh extends Odd.Shape {
    @Override
    public long area(long x) {
        for (int i = 0; i < 20; i++)
            x ^= x << 7 ^ i;
        return x;
    }
}
