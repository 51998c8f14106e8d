package io.holdfast.table;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A flag that threads set and see in the weakest order that does, for class files of Java 17. Any
 * thread may call.
 */
final class Flag {
  private final AtomicBoolean flag = new AtomicBoolean();

  /** Sets it, in any order with what is read and written otherwise. */
  void raise() {
    flag.setOpaque(true);
  }

  /** Clears it after all that this thread has written. */
  void lower() {
    flag.setRelease(false);
  }

  /** Whether this thread has set it. */
  boolean isRaisedByThisThread() {
    return flag.getPlain();
  }

  /** Whether it is set; what this thread reads next comes after that. */
  boolean isRaised() {
    return flag.getAcquire();
  }

  /** Sets it if it is not; whether it did. */
  boolean tryRaise() {
    return flag.compareAndSet(false, true);
  }

  /** Says that this thread waits for another one. */
  static void pause() {
    Thread.onSpinWait();
  }
}
