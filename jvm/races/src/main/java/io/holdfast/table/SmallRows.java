package io.holdfast.table;

import scala.Option;

/** Rows of a few bytes, in versions of the engine. Any thread may call. */
public final class SmallRows {
  private SmallRows() {}

  /** A version with one row. */
  public static Version version(int key, int value) {
    return next(Version.empty(Option.empty()), key, value);
  }

  /** A transaction as one on a store without a limit begins, whose rows have no time. */
  public static Transaction open(Version version) {
    return version.open(MemoryUse.Unlimited$.MODULE$, Option.empty(), Option.empty());
  }

  /** The next version, with one row more or another value for a key. */
  public static Version next(Version version, int key, int value) {
    Transaction transaction = open(version);
    put(transaction, key, value);
    return transaction.commit();
  }

  /** Gives a key a value. */
  public static void put(Transaction transaction, int key, int value) {
    transaction.put(bytes(key), 0, 8, bytes(value), 0, 8);
  }

  /** The value of a key; 0 if there is none, and -1 if its bytes are not whole. */
  public static int value(RowsByKey rows, int key) {
    long row = rows.find(bytes(key), 0, 8);
    return row == Rows$.MODULE$.Absent() ? 0 : valueAt(rows.page(row), Rows$.MODULE$.offset(row));
  }

  /** The values of all rows, added up; below 0 if the bytes of one are not whole. */
  public static int sum(Rows rows) {
    int sum = 0;
    RowCursor cursor = rows.cursor(MemoryUse.Unlimited$.MODULE$);
    while (cursor.next()) {
      int value = valueAt(cursor.page(), cursor.offset());
      sum = value < 0 ? -1_000_000 : sum + value;
    }
    return sum;
  }

  private static int valueAt(byte[] page, int offset) {
    int at = RowRecord.valueOffset(page, offset);
    byte value = page[at];
    for (int i = 1; i < 8; i++) {
      if (page[at + i] != value) {
        return -1;
      }
    }
    return value;
  }

  private static byte[] bytes(int value) {
    byte[] bytes = new byte[8];
    java.util.Arrays.fill(bytes, (byte) value);
    return bytes;
  }
}
