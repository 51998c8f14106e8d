package io.holdfast.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Words inside byte arrays, for class files of Java 17.
 *
 * <p>Java rather than Scala because {@code VarHandle} calls are compiled to a single machine
 * instruction only from a {@code static final} field and with exact call-site types, and Scala has
 * neither. Every method checks array bounds and may be called from any thread.
 */
final class Words {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private static final VarHandle NATIVE_LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private Words() {}

  static int getInt(byte[] bytes, int offset) {
    return (int) INTS.get(bytes, offset);
  }

  static void putInt(byte[] bytes, int offset, int value) {
    INTS.set(bytes, offset, value);
  }

  static long getLong(byte[] bytes, int offset) {
    return (long) LONGS.get(bytes, offset);
  }

  static long getNativeLong(byte[] bytes, int offset) {
    return (long) NATIVE_LONGS.get(bytes, offset);
  }

  /** Whether two long ranges of the same length hold the same bytes. */
  static boolean equal(byte[] left, int leftOffset, byte[] right, int rightOffset, int length) {
    return java.util.Arrays.equals(
        left, leftOffset, leftOffset + length, right, rightOffset, rightOffset + length);
  }
}
