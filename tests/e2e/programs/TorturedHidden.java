/** A class of which Tortured makes hidden ones. */
public class TorturedHidden {
    long one;
    Object two = new int[2];
}
