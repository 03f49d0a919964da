import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * More places that allocate arrays than 20 bits can number: a class that is made for it, of methods that are nothing but
 * allocations, each of which runs once. Then places of its own, which are met after them, allocate: interpreted first,
 * compiled later. Prints how many arrays each of those has made. Arguments: places to be made before, rounds.
 */
public class ManySites extends ClassLoader {
    static final int PLACE_BYTES = 4, PLACES = 65_532 / PLACE_BYTES; // what a method has room for
    static final int NEWARRAY = 188, ICONST_0 = 3, POP = 87, RETURN = 177, T_BYTE = 8;

    static Object kept;

    /** A class file: constants, no fields, static methods m0, m1, ... without arguments. */
    static byte[] made(int methods) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        String[] names = {"Made", "java/lang/Object", "()V", "Code"};
        out.writeInt(0xcafebabe);
        out.writeInt(55);
        out.writeShort(1 + names.length + 2 + methods);
        for (String name : names) {
            utf(out, name);
        }
        for (int named = 1; named <= 2; named++) {
            out.writeByte(7);
            out.writeShort(named);
        }
        for (int i = 0; i < methods; i++) {
            utf(out, "m" + i);
        }
        out.writeShort(0x21);
        out.writeShort(names.length + 1);
        out.writeShort(names.length + 2);
        out.writeShort(0);
        out.writeShort(0);
        out.writeShort(methods);
        for (int i = 0; i < methods; i++) {
            method(out, names.length + 3 + i);
        }
        out.writeShort(0);
        return bytes.toByteArray();
    }

    static void utf(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    static void method(DataOutputStream out, int name) throws IOException {
        int length = PLACES * PLACE_BYTES + 1;
        out.writeShort(0x9);
        out.writeShort(name);
        out.writeShort(3);
        out.writeShort(1);
        out.writeShort(4);
        out.writeInt(length + 12);
        out.writeShort(1);
        out.writeShort(0);
        out.writeInt(length);
        for (int i = 0; i < PLACES; i++) {
            out.writeByte(ICONST_0);
            out.writeByte(NEWARRAY);
            out.writeByte(T_BYTE);
            out.writeByte(POP);
        }
        out.writeByte(RETURN);
        out.writeShort(0);
        out.writeShort(0);
    }

    static void few(int length) {
        kept = new short[7];
    }

    static void any(int length) {
        kept = new int[length];
    }

    static void large(int length) {
        kept = new char[1000];
    }

    static void references(int length) {
        kept = new Thread[length];
    }

    static void grid(int length) {
        kept = new double[3][2];
    }

    static void copied(int length) {
        kept = Arrays.copyOf(LONGS, length);
    }

    static final long[] LONGS = new long[1];

    static void round(int round) {
        int length = round % 600;
        few(length);
        any(length);
        large(length);
        references(length);
        grid(length);
        copied(length);
    }

    public static void main(String[] arguments) throws Exception {
        int methods = (Integer.parseInt(arguments[0]) + PLACES - 1) / PLACES, rounds = Integer.parseInt(arguments[1]);
        byte[] file = made(methods);
        Class<?> made = new ManySites().defineClass("Made", file, 0, file.length);

        System.out.println("ready " + ProcessHandle.current().pid());
        System.in.read();
        for (int i = 0; i < methods; i++) {
            Method method = made.getMethod("m" + i);
            method.invoke(null);
        }
        for (int i = 0; i < rounds; i++) {
            round(i);
        }
        System.out.println(methods * PLACES);
    }
}
