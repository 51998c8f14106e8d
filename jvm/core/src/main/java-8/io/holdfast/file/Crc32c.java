package io.holdfast.file;

/**
 * The checksum CRC-32C, for class files of Java 8, which has none. Byte by byte from a table: the
 * Spark lines that run on Java 8 have no row checksums, so nothing waits for it. For one thread.
 */
final class Crc32c {
  private static final int[] TABLE = new int[256];

  static {
    for (int i = 0; i < TABLE.length; i += 1) {
      int crc = i;
      for (int bit = 0; bit < 8; bit += 1) {
        // The polynomial of Castagnoli, its bits in reverse.
        crc = (crc >>> 1) ^ ((crc & 1) == 0 ? 0 : 0x82F63B78);
      }
      TABLE[i] = crc;
    }
  }

  private int state = ~0;

  void update(byte[] bytes, int offset, int length) {
    for (int i = offset; i < offset + length; i += 1) {
      state = TABLE[(state ^ bytes[i]) & 0xff] ^ (state >>> 8);
    }
  }

  int value() {
    return ~state;
  }
}
