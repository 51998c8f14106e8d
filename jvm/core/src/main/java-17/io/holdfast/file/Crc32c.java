package io.holdfast.file;

import java.util.zip.CRC32C;

/** The checksum CRC-32C, for class files of Java 17. For one thread. */
final class Crc32c {
  private final CRC32C checksum = new CRC32C();

  void update(byte[] bytes, int offset, int length) {
    checksum.update(bytes, offset, length);
  }

  int value() {
    return (int) checksum.getValue();
  }
}
