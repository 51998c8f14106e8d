package io.holdfast.table;

/**
 * Reads, writes and hashes words inside byte arrays, which {@link Words} gets at in the way of the
 * Java that class files are for. Every method checks array bounds and may be called from any thread.
 */
final class Bytes {
  // Odd 64-bit constants with about half of their bits set, so that multiplication spreads a word.
  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
  private static final long FINAL_1 = 0xBF58476D1CE4E5B9L;
  private static final long FINAL_2 = 0x94D049BB133111EBL;

  private Bytes() {}

  static int getInt(byte[] bytes, int offset) {
    return Words.getInt(bytes, offset);
  }

  static void putInt(byte[] bytes, int offset, int value) {
    Words.putInt(bytes, offset, value);
  }

  static long getLong(byte[] bytes, int offset) {
    return Words.getLong(bytes, offset);
  }

  static long getNativeLong(byte[] bytes, int offset) {
    return Words.getNativeLong(bytes, offset);
  }

  /** Takes one more word into a hash. */
  static long combine(long hash, long word) {
    return finish((Long.rotateLeft(hash, 29) ^ word) * MULTIPLIER);
  }

  /**
   * A 64-bit hash of {@code length} bytes: a multiply-rotate chain over the words, closed by the
   * SplitMix64 finalizer (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
   * OOPSLA 2014), so that the low bits, which choose buckets, depend on every input bit.
   *
   * <p>It never reaches a file: changing it changes no stored state.
   */
  static long hash(byte[] bytes, int offset, int length) {
    long hash = length * MULTIPLIER;
    int position = offset;
    final int wordsEnd = offset + (length & ~7);
    while (position < wordsEnd) {
      hash = (Long.rotateLeft(hash, 29) ^ getLong(bytes, position)) * MULTIPLIER;
      hash ^= hash >>> 32;
      position += 8;
    }
    final int end = offset + length;
    while (position < end) {
      hash = (Long.rotateLeft(hash, 9) ^ bytes[position]) * MULTIPLIER;
      position += 1;
    }
    return finish(hash);
  }

  private static long finish(long hash) {
    long mixed = (hash ^ (hash >>> 30)) * FINAL_1;
    mixed = (mixed ^ (mixed >>> 27)) * FINAL_2;
    return mixed ^ (mixed >>> 31);
  }

  /** Whether two ranges of the same length hold the same bytes. */
  static boolean equal(byte[] left, int leftOffset, byte[] right, int rightOffset, int length) {
    // Keys of one to four columns are 16 to 40 bytes long: comparing their words in line beats the
    // call into the vectorised array comparison, which wins only on long keys.
    if (length > 64) {
      return Words.equal(left, leftOffset, right, rightOffset, length);
    }
    int position = 0;
    final int wordsEnd = length & ~7;
    while (position < wordsEnd) {
      if (getLong(left, leftOffset + position) != getLong(right, rightOffset + position)) {
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
}
