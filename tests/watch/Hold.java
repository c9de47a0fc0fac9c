/** Fills part of its heap, collects, says so, and waits until its input closes. */
public class Hold {
    static byte[] kept = new byte[8 << 20];

    public static void main(String[] arguments) throws java.io.IOException {
        System.gc();
        System.out.println("collected");
        System.out.flush();
        while (System.in.read() >= 0) { }
    }
}
