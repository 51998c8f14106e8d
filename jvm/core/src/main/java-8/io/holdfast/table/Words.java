package io.holdfast.table;

import java.nio.ByteOrder;

import org.apache.spark.unsafe.Platform;

/**
 * Words inside byte arrays, for class files of Java 8, which has no {@code VarHandle}: through
 * Spark's access to memory, with the bounds checked here. May be called from any thread.
 */
final class Words {
  private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private Words() {}

  static int getInt(byte[] bytes, int offset) {
    final int word = Platform.getInt(bytes, place(bytes, offset, Integer.BYTES));
    return LITTLE_ENDIAN ? word : Integer.reverseBytes(word);
  }

  static void putInt(byte[] bytes, int offset, int value) {
    final int word = LITTLE_ENDIAN ? value : Integer.reverseBytes(value);
    Platform.putInt(bytes, place(bytes, offset, Integer.BYTES), word);
  }

  static long getLong(byte[] bytes, int offset) {
    final long word = getNativeLong(bytes, offset);
    return LITTLE_ENDIAN ? word : Long.reverseBytes(word);
  }

  static long getNativeLong(byte[] bytes, int offset) {
    return Platform.getLong(bytes, place(bytes, offset, Long.BYTES));
  }

  /** Whether two long ranges of the same length hold the same bytes. */
  static boolean equal(byte[] left, int leftOffset, byte[] right, int rightOffset, int length) {
    int position = 0;
    final int wordsEnd = length & ~7;
    while (position < wordsEnd) {
      if (getNativeLong(left, leftOffset + position)
          != getNativeLong(right, rightOffset + position)) {
        return false;
      }
      position += 8;
    }
    while (position < length) {
      if (left[leftOffset + position] != right[rightOffset + position]) {
        return false;
      }
      position += 1;
    }
    return true;
  }

  private static long place(byte[] bytes, int offset, int size) {
    if (offset < 0 || offset > bytes.length - size) {
      throw new IndexOutOfBoundsException(
          size + " bytes at " + offset + " of " + bytes.length + " bytes");
    }
    return Platform.BYTE_ARRAY_OFFSET + (long) offset;
  }
}
